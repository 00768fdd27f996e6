// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds a symbol that a loaded object exports. Unlike dlsym it takes no lock and never allocates.
#pragma once

#include "image.hpp"

#include <cstdint>

namespace heapwright::recorder::stacks {

/// The address in memory of a function or an object; 0 where the image does not export it. Reads
/// nothing outside of the image's readable pages.
[[nodiscard]] std::uint64_t findSymbol(const Image& image, const char* name) noexcept;

} // namespace heapwright::recorder::stacks
