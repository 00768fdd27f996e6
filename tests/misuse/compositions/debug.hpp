// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Kingsley's lists under a map of all live objects. The error of a pointer is known after any
// writes of the program.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::misuse {

namespace debug {
using Chunks = ChunkHeap<1 * MiB, 8, MmapHeap>;                // pages, carved once
using Source = SizeHeap<Chunks>;                               // each object remembers its size
using PerClass = FreelistHeap<NullHeap>;                       // a list of freed objects
using Lists = StrictSegHeap<PowerOfTwo<29>, PerClass, Source>; // for each class
using Aligned = AlignHeap<Lists>;                              // any alignment
using Watched = DebugHeap<Aligned>;                            // the map, and the fills
using Locked = LockedHeap<FutexLock, Watched>;                 // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;                     // a handler may interrupt
} // namespace debug

using Debug = ANSIWrapper<debug::SignalSafe>; // the C rules

} // namespace heapwright::misuse
