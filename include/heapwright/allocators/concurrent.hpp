// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The concurrent single heap: one heap with a lock for each size class, and one more lock for fresh
// memory. Threads wait for each other only when they use the same class at the same time. A request
// gets the last freed object of its class, regardless of the thread. Thus no free memory is
// reserved for one thread, and objects of two threads may share a cache line.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace concurrent {
using Chunks = ChunkHeap<1 * MiB, 8, MmapHeap>;          // pages, carved once
using Fresh = LockedHeap<FutexLock, Chunks>;             // by one thread at a time
using Source = SizeHeap<Fresh>;                          // each object remembers its size
using Freed = FreelistHeap<NullHeap>;                    // freed objects wait on a list
using PerClass = LockedHeap<FutexLock, Freed>;           // one list with a lock for each class
using Classes = PowerOfTwo<14>;                          // blocks of 16 bytes to 128 KiB
using Lists = StrictSegHeap<Classes, PerClass, Source>;  // an object never leaves its class
using Limit = FixedLimit<128 * KiB>;                     // larger requests are mapped
using Selected = SelectMmapHeap<Limit, MmapHeap, Lists>; // large objects get their own mapping
using Checked = CheckedHeap<Selected>;                   // a wrong free ends the program
using Aligned = AlignHeap<Checked>;                      // alignment to any power of two
using SignalSafe = SignalSafeHeap<Aligned>;              // a handler may interrupt
} // namespace concurrent

using Concurrent = ANSIWrapper<concurrent::SignalSafe>; // the C rules

static_assert(SizedHeap<Concurrent> && AlignedHeap<Concurrent> && ForkableHeap<Concurrent>);
static_assert(ConcurrentHeap<concurrent::Aligned> && ForkableHeap<concurrent::Aligned>);

} // namespace heapwright::allocators
