// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The concurrent single heap: one heap, but a lock for each size class, and one more for where
// fresh memory comes from. Threads wait for each other only when they want the same class at the
// same time. Whatever thread it is, it is handed what was freed last: no memory is held for one
// that another could use, and two threads write side by side in one cache line.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace concurrent {
using Chunks = ChunkHeap<1 * MiB, 8, MmapHeap>;          // pages, carved once
using Fresh = LockedHeap<FutexLock, Chunks>;             // by one thread at a time
using Source = SizeHeap<Fresh>;                          // each object remembers its size
using Freed = FreelistHeap<NullHeap>;                    // what is freed waits on a list
using PerClass = LockedHeap<FutexLock, Freed>;           // one for each class, with its lock
using Classes = PowerOfTwo<14>;                          // blocks of 16 bytes to 128 KiB
using Lists = StrictSegHeap<Classes, PerClass, Source>;  // an object never leaves its class
using Limit = FixedLimit<128 * KiB>;                     // from here on large
using Selected = SelectMmapHeap<Limit, MmapHeap, Lists>; // large objects get their own mapping
using Checked = CheckedHeap<Selected>;                   // a wrong free ends the program
using Aligned = AlignHeap<Checked>;                      // any alignment
using SignalSafe = SignalSafeHeap<Aligned>;              // a handler may interrupt
} // namespace concurrent

using Concurrent = ANSIWrapper<concurrent::SignalSafe>; // the C rules

static_assert(SizedHeap<Concurrent> && AlignedHeap<Concurrent> && ForkableHeap<Concurrent>);
static_assert(ConcurrentHeap<concurrent::Aligned> && ForkableHeap<concurrent::Aligned>);

} // namespace heapwright::allocators
