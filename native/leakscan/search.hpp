// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the live blocks that pointers reach: from all writable memory outside the heap, and from
// block to block. Any aligned word that points into a block counts. A block reported as lost is
// therefore lost, but a number that looks like a pointer may hide one.
// Cost: a search among the blocks for each word that could be a pointer.
// Source: Boehm (1988); leak checkers do the same inside the program.
#pragma once

#include "blocks.hpp"
#include "kept.hpp"
#include "memory.hpp"

namespace heapwright::leakscan {

/// Marks each block that memory or these words reach.
void search(const Memory& memory, const std::vector<std::uint64_t>& words, LiveBlocks& live);

/// Marks also the blocks that were reachable only from blocks freed in the teardown. Pre: `search`
/// ran before. The allocator has overwritten a part of the freed blocks. If they lead to nearly all
/// lost blocks of a stack, all blocks of that stack are marked. `kept` has the contents of freed
/// blocks that were unmapped.
void searchTeardown(const Memory& memory, LiveBlocks& live, const Kept& kept = {});

} // namespace heapwright::leakscan
