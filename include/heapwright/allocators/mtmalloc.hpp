// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After MTmalloc of Solaris: several heaps of power-of-two classes. A counter that all threads
// share assigns each request to the next heap. A freed object returns to the heap it came from. All
// heaps are used evenly, but every thread writes the counter and, in turn, every heap.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace mtmalloc {
using Chunks = ChunkHeap<1 * MiB, 8, ReserveHeap<1 * MiB>>; // a region each, carved once
using Source = SizeHeap<Chunks>;                            // each object remembers its size
using PerClass = FreelistHeap<NullHeap>;                    // freed objects wait on a list
using Classes = PowerOfTwo<14>;                             // blocks of 16 bytes to 128 KiB
using Lists = StrictSegHeap<Classes, PerClass, Source>;     // an object never leaves its class
using Checked = CheckedHeap<Lists>;                         // a wrong free ends the program
using Locked = LockedHeap<FutexLock, Checked>;              // one thread at a time
using Heaps = ArenaHeap<RoundRobin<16>, Locked>;            // each request to the next heap
using Large = CheckedHeap<MmapHeap>;                        // pages for one object
using Limit = FixedLimit<64 * KiB>;                         // larger requests are mapped
using Selected = SelectMmapHeap<Limit, Large, Heaps>;       // large objects get their own mapping
using Aligned = AlignHeap<Selected>;                        // alignment to any power of two
using SignalSafe = SignalSafeHeap<Aligned>;                 // a handler may interrupt
} // namespace mtmalloc

using Mtmalloc = ANSIWrapper<mtmalloc::SignalSafe>; // the C rules

static_assert(SizedHeap<Mtmalloc> && AlignedHeap<Mtmalloc> && ForkableHeap<Mtmalloc>);
static_assert(ConcurrentHeap<mtmalloc::Aligned> && ForkableHeap<mtmalloc::Aligned>);

} // namespace heapwright::allocators
