// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A reap for many threads at once, over Hoard's superblocks. A thread allocates objects one after
// another in superblocks of its own, without a header and without waiting for other threads. Any
// thread may free any object for reuse. Superblocks that a thread does not use go to the other
// threads. Clearing returns all superblocks at once, including those of the reaps inside.
//
// Larger objects come from a reap behind a lock. Such a reap is large itself. Use it for data that
// many threads share, not for each request (nested_reap.hpp).
// Source: the combination is future work in the thesis of both (Berger, 2002).
#pragma once

#include <heapwright/allocators/nested_reap.hpp>
#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace reap_hoard {
using Blocks = AlignedBlockHeap<8 * KiB, 1 * MiB, MmapHeap>; // the memory of superblocks
using Classes = GeometricSlots<6, 5, 16, 4 * KiB>;           // b = 1.2, up to S/2
using Assigned = PerProcessor<16>;                           // 2 P heaps
using Rule = Emptiness<1, 4, 4>;                             // f = 1/4, K = 4
using Small = HoardHeap<Classes, Assigned, Rule, AnyLines, Blocks>;
using Chunks = RegionHeap<8 * KiB, 1 * MiB, MmapHeap>;          // chunks that double in size
using Objects = ClearOptimizedHeap<nested_reap::Freed, Chunks>; // a reap
using Large = LockedHeap<FutexLock, Objects>;                   // one thread at a time
using Split = SplitHeap<4 * KiB, Small, Large>;                 // large objects apart
} // namespace reap_hoard

using ReapHoard = NestedHeap<reap_hoard::Split>;

static_assert(ConcurrentHeap<ReapHoard> && ClearableHeap<ReapHoard> && SizedHeap<ReapHoard>);

} // namespace heapwright::allocators
