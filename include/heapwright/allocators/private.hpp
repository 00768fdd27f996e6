// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Pure private heaps, as in STL and Cilk. Each thread allocates from its own heap. It also frees
// into its own heap, no matter which heap the object came from. Threads never wait for each other,
// as long as there are at most as many threads as heaps. If one thread allocates and another frees,
// memory grows without bound.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace pure_private {
using Pages = UniqueHeap<struct PurePrivatePages, MmapHeap>; // outlives and serves all heaps
using Chunks = BumpHeap<64 * KiB, 8, Pages>;                 // each heap's own, carved once
using Source = SizeHeap<Chunks>;                             // each object remembers its size
using PerClass = FreelistHeap<NullHeap>;                     // freed objects wait for their thread
using Classes = PowerOfTwo<14>;                              // blocks of 16 bytes to 128 KiB
using Lists = StrictSegHeap<Classes, PerClass, Source>;      // an object never leaves its class
using Checked = CheckedHeap<Lists>;                          // a wrong free ends the program
using Private = LockedHeap<FutexLock, Checked>;              // for threads that share a heap
using Heaps = ThreadHeap<128, Private>;                      // the heap of the thread
using Large = CheckedHeap<MmapHeap>;                         // pages for one object
using Limit = FixedLimit<128 * KiB>;                         // larger requests are mapped
using Selected = SelectMmapHeap<Limit, Large, Heaps>;        // large objects get their own mapping
using Aligned = AlignHeap<Selected>;                         // alignment to any power of two
using SignalSafe = SignalSafeHeap<Aligned>;                  // a handler may interrupt
} // namespace pure_private

using PurePrivate = ANSIWrapper<pure_private::SignalSafe>; // the C rules

static_assert(SizedHeap<PurePrivate> && AlignedHeap<PurePrivate> && ForkableHeap<PurePrivate>);
static_assert(ConcurrentHeap<pure_private::Aligned> && ForkableHeap<pure_private::Aligned>);

} // namespace heapwright::allocators
