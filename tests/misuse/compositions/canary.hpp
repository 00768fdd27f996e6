// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Kingsley's allocator with guarded objects. The guards are over the lock, which they do not need.
// They are over the rung for signal handlers, which writes into objects whose free has to wait.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::misuse {

namespace canary {
using Chunks = ChunkHeap<1 * MiB, 8, MmapHeap>;                // pages, carved once
using Source = SizeHeap<Chunks>;                               // each object remembers its size
using PerClass = FreelistHeap<NullHeap>;                       // a list of freed objects
using Lists = StrictSegHeap<PowerOfTwo<29>, PerClass, Source>; // for each class
using Checked = CheckedHeap<Lists>;                            // a wrong free ends the program
using Aligned = AlignHeap<Checked>;                            // any alignment
using Locked = LockedHeap<FutexLock, Aligned>;                 // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;                     // a handler may interrupt
using Guarded = CanaryHeap<SignalSafe>;                        // a canary at both ends
} // namespace canary

using Canary = ANSIWrapper<canary::Guarded>; // the C rules

} // namespace heapwright::misuse
