// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Hoard as published (2000, 2002): superblocks of 8 KiB, size classes 1.2 apart, two heaps for each
// processor, and a global heap for the superblocks of which a heap uses too little: less than 3/4
// of what it has of a class, with more than 4 superblocks' worth free. Larger objects than half a
// superblock have mappings of their own. Scalable, lean, and its blowup is bounded.
//
// What is not as published: objects stand on multiples of 16, where the original has 8, and what is
// used and held is counted for each class.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace hoard {
using Blocks = AlignedBlockHeap<8 * KiB, 1 * MiB, MmapHeap>; // superblocks to be
using Classes = GeometricSlots<6, 5, 16, 4 * KiB>;           // b = 1.2, up to S/2
using Assigned = PerProcessor<128>;                          // 2 P heaps
using Rule = Emptiness<1, 4, 4>;                             // f = 1/4, K = 4
using Small = HoardHeap<Classes, Assigned, Rule, AnyLines, Blocks>;
using Large = CheckedHeap<MmapHeap>;            // a mapping for each
using Split = SplitHeap<4 * KiB, Small, Large>; // large ones apart
using SignalSafe = SignalSafeHeap<Split>;       // a handler may interrupt
} // namespace hoard

using Hoard = ANSIWrapper<hoard::SignalSafe>; // the C rules

static_assert(SizedHeap<Hoard> && AlignedHeap<Hoard> && ForkableHeap<Hoard>);
static_assert(ConcurrentHeap<hoard::Split> && TrimmableHeap<hoard::Split>);

} // namespace heapwright::allocators
