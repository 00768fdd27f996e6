// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Hoard as published (2000, 2002). It has superblocks of 8 KiB, size classes with a ratio of 1.2,
// two heaps for each processor, and a global heap. A heap gives superblocks of a class to the
// global heap when it uses less than 3/4 of what it has of the class. It keeps up to 4 superblocks'
// worth of free slots. Objects larger than half a superblock have mappings of their own. Its blowup
// is bounded.
//
// Differences from the publication: objects are aligned to 16 and not to 8, and the used and held
// bytes are counted for each class.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace hoard {
using Blocks = AlignedBlockHeap<8 * KiB, 1 * MiB, MmapHeap>; // the memory of superblocks
using Classes = GeometricSlots<6, 5, 16, 4 * KiB>;           // b = 1.2, up to S/2
using Assigned = PerProcessor<128>;                          // 2 P heaps
using Rule = Emptiness<1, 4, 4>;                             // f = 1/4, K = 4
using Small = HoardHeap<Classes, Assigned, Rule, AnyLines, Blocks>;
using Large = CheckedHeap<MmapHeap>;            // a mapping for each
using Split = SplitHeap<4 * KiB, Small, Large>; // large objects apart
using SignalSafe = SignalSafeHeap<Split>;       // a handler may interrupt
} // namespace hoard

using Hoard = ANSIWrapper<hoard::SignalSafe>; // the C rules

static_assert(SizedHeap<Hoard> && AlignedHeap<Hoard> && ForkableHeap<Hoard>);
static_assert(ConcurrentHeap<hoard::Split> && TrimmableHeap<hoard::Split>);

} // namespace heapwright::allocators
