// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Which live blocks pointers lead to: from all writable memory that is not the heap's, and on from
// block to block. Any aligned word that points into a block counts, so that what is called lost is
// lost, and a number that looks like a pointer may hide one. (After Boehm 1988; leak checkers do
// the same in the program itself.) Cost: a search among the blocks for each word that could be one.
#pragma once

#include "blocks.hpp"
#include "memory.hpp"

namespace heapwright::leakscan {

/// Marks each block that is reached, from memory and from these words.
void search(const Memory& memory, const std::vector<std::uint64_t>& words, LiveBlocks& live);

/// Marks also what blocks led to that were freed in the teardown. Afterwards. The allocator has
/// written over a part of these: where they led to nearly all lost blocks of a stack, they are
/// taken to have led to all of them.
void searchTeardown(const Memory& memory, LiveBlocks& live);

} // namespace heapwright::leakscan
