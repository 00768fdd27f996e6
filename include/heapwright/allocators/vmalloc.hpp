// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After Vo's vmalloc: any number of independent heaps. Objects are freed one by one, and a heap
// returns all its memory when it ends. Each heap takes its memory in mappings of its own and shares
// nothing. The usual discipline is the best fit, from a self-adjusting tree. In front of it is a
// cache of small freed objects, which merge only before the heap grows.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace vmalloc {
using Objects = CoalesceableHeap<MmapHeap>;                     // each object knows its neighbours
using Blocks = SequentialFitHeap<SizeTree, 256 * KiB, Objects>; // split and merged, best fit
using PerClass = FreelistHeap<NullHeap>;                        // freed small objects wait
using CacheClasses = Exact<7>;                                  // up to 120 bytes
using Cached = StrictSegHeap<CacheClasses, PerClass, Blocks>;   // merges them before it grows
using Checked = CheckedHeap<Cached>;                            // a wrong free ends the program
using Locked = LockedHeap<FutexLock, Checked>;                  // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;                      // a handler may interrupt
} // namespace vmalloc

using Vmalloc = ANSIWrapper<vmalloc::SignalSafe>; // the C rules

static_assert(SizedHeap<Vmalloc> && AlignedHeap<Vmalloc> && ForkableHeap<Vmalloc>);
static_assert(ClearableHeap<vmalloc::Locked> && TrimmableHeap<vmalloc::Locked>);

} // namespace heapwright::allocators
