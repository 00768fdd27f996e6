// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles the unwinding tables of exceptions (.eh_frame: DWARF's call frame information) into
// rows, for x86-64. It follows only the registers that lead to the caller: stack pointer, frame
// pointer, return address. It reads nothing outside the object's segment, even if the tables are
// corrupt. An unknown form in a table yields a row that is lost.
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
