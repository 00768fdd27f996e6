// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reaps (Berger, 2002), one inside another: regions whose objects can also be freed one by one. A
// pointer moves through chunks from 8 KiB, doubling, to 1 MiB; what is freed goes to a heap like
// Doug Lea's, which serves until it has none that fits, and then the pointer moves again. Clearing
// a reap frees all that is in it, the reaps inside too.
//
// There may be very many: a reap takes 120 bytes, and 900 more when something is freed.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace nested_reap {
using Nowhere = CoalesceableHeap<SizeHeap<NullHeap>>;     // memory comes only by free
using Fit = ExactFit<14, SizeTries>;                      // lists below 256 bytes, then tries
using Merged = SequentialFitHeap<Fit, 4 * KiB, Nowhere>;  // split and merged, best fit
using PerClass = FreelistHeap<NullHeap>;                  // freed small objects wait
using Quick = StrictSegHeap<Exact<14>, PerClass, Merged>; // up to 232 bytes, by 16
using Freed = ThresholdHeap<512, Quick>;                  // and merge when this is asked for
template <MaxAlignedHeap Source>
using Chunks = RegionHeap<8 * KiB, 1 * MiB, Source>; // larger and larger
template <MaxAlignedHeap Source>
using Objects = ClearOptimizedHeap<Freed, Chunks<Source>>; // quick until something is freed
template <MaxAlignedHeap Source>
using Locked = LockedHeap<FutexLock, Objects<Source>>; // one thread at a time
} // namespace nested_reap

/// For one thread at a time, with all that is inside.
template <MaxAlignedHeap Source>
using NestedReap = NestedHeap<nested_reap::Objects<Source>>;

/// For several threads.
template <MaxAlignedHeap Source>
using SharedReap = NestedHeap<nested_reap::Locked<Source>>;

static_assert(ClearableHeap<NestedReap<MallocHeap>> && ConcurrentHeap<SharedReap<MallocHeap>>);

} // namespace heapwright::allocators
