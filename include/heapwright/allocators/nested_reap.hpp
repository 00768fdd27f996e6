// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reaps (Berger, 2002) that can be nested: regions whose objects can also be freed one by one. A
// pointer moves through chunks that double from 8 KiB to 1 MiB. Freed objects go to a heap like
// Doug Lea's. Requests are served from that heap until no block fits; then the pointer moves again.
// Clearing a reap frees all its objects and those of the reaps inside.
//
// Cost: a reap takes 120 bytes, and 900 more after the first free, so a program may have very many.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace nested_reap {
using Nowhere = CoalesceableHeap<SizeHeap<NullHeap>>;     // memory comes only from frees
using Fit = ExactFit<14, SizeTries>;                      // lists below 256 bytes, then tries
using Merged = SequentialFitHeap<Fit, 4 * KiB, Nowhere>;  // split and merged, best fit
using PerClass = FreelistHeap<NullHeap>;                  // freed small objects wait
using Quick = StrictSegHeap<Exact<14>, PerClass, Merged>; // up to 232 bytes, by 16
using Freed = ThresholdHeap<512, Quick>;                  // a large request merges them
template <MaxAlignedHeap Source>
using Chunks = RegionHeap<8 * KiB, 1 * MiB, Source>; // chunks that double in size
template <MaxAlignedHeap Source>
using Objects = ClearOptimizedHeap<Freed, Chunks<Source>>; // a pointer until the first free
template <MaxAlignedHeap Source>
using Locked = LockedHeap<FutexLock, Objects<Source>>; // one thread at a time
} // namespace nested_reap

/// For one thread at a time, together with all reaps inside.
template <MaxAlignedHeap Source>
using NestedReap = NestedHeap<nested_reap::Objects<Source>>;

/// For several threads.
template <MaxAlignedHeap Source>
using SharedReap = NestedHeap<nested_reap::Locked<Source>>;

static_assert(ClearableHeap<NestedReap<MallocHeap>> && ConcurrentHeap<SharedReap<MallocHeap>>);

} // namespace heapwright::allocators
