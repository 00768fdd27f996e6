// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles the unwinding tables that compilers write for exceptions (.eh_frame: DWARF's call frame
// information) into rows, for x86-64. Of the registers only those are followed that lead to the
// caller: stack pointer, frame pointer, return address. Nothing outside of the object's segment is
// read, whatever the tables say; what they say in a way not known here gives a row that is lost.
// Cost: a binary search and some hundred instructions; rows are cached.
#pragma once

#include "image.hpp"
#include "row.hpp"

#include <cstdint>
#include <optional>

namespace heapwright::recorder::stacks {

/// The row that holds at an address of the image's code; nothing if the tables do not cover it.
std::optional<Row> findRow(const Image& image, std::uint64_t address) noexcept;

} // namespace heapwright::recorder::stacks
