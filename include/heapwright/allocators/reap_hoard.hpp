// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A reap for many threads at once, over Hoard's superblocks: the future work of the thesis that
// both are from (Berger, 2002). A thread makes objects one behind another in superblocks of its
// own, without a header and without waiting for others; any thread frees any object, which serves
// again; what a thread does not use goes to the others. Clearing hands all superblocks back at
// once, those of the reaps inside too.
//
// Larger objects come from a reap behind a lock. Such a reap is large itself: for what many threads
// have in common, not for each request (nested_reap.hpp).
#pragma once

#include <heapwright/allocators/nested_reap.hpp>
#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace reap_hoard {
using Blocks = AlignedBlockHeap<8 * KiB, 1 * MiB, MmapHeap>; // superblocks to be
using Classes = GeometricSlots<6, 5, 16, 4 * KiB>;           // b = 1.2, up to S/2
using Assigned = PerProcessor<16>;                           // 2 P heaps
using Rule = Emptiness<1, 4, 4>;                             // f = 1/4, K = 4
using Small = HoardHeap<Classes, Assigned, Rule, AnyLines, Blocks>;
using Chunks = RegionHeap<8 * KiB, 1 * MiB, MmapHeap>;          // larger and larger
using Objects = ClearOptimizedHeap<nested_reap::Freed, Chunks>; // a reap
using Large = LockedHeap<FutexLock, Objects>;                   // one thread at a time
using Split = SplitHeap<4 * KiB, Small, Large>;                 // large ones apart
} // namespace reap_hoard

using ReapHoard = NestedHeap<reap_hoard::Split>;

static_assert(ConcurrentHeap<ReapHoard> && ClearableHeap<ReapHoard> && SizedHeap<ReapHoard>);

} // namespace heapwright::allocators
