// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Large blocks that the process freed, whose contents its preloaded library kept (hold/kept.h).
#pragma once

#include "memory.hpp"
#include "trace/reader.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace heapwright::leakscan {

/// The address of a freed block, and the address at which its contents are now.
using Kept = std::unordered_map<std::uint64_t, std::uint64_t>;

/// The memory that the process has only because it is recorded.
std::vector<Range> recorderRanges(const trace::Trace& trace, std::uint32_t process);

/// The kept blocks of the tables that these ranges begin with. Of the blocks that one address had,
/// the last one.
Kept keptBlocks(const Memory& memory, const std::vector<Range>& ranges);

} // namespace heapwright::leakscan
