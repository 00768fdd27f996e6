// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Kingsley's allocator with delayed reuse. The check is over the quarantine, so that the tag of an
// object that waits says for all that time that it is free.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::misuse {

namespace quarantine {
using Chunks = ChunkHeap<1 * MiB, 8, MmapHeap>;                // pages, carved once
using Source = SizeHeap<Chunks>;                               // each object remembers its size
using PerClass = FreelistHeap<NullHeap>;                       // a list of freed objects
using Lists = StrictSegHeap<PowerOfTwo<29>, PerClass, Source>; // for each class
using Delayed = QuarantineHeap<64 * KiB, Lists>;               // what is freed waits, poisoned
using Checked = CheckedHeap<Delayed>;                          // a wrong free ends the program
using Aligned = AlignHeap<Checked>;                            // any alignment
using Locked = LockedHeap<FutexLock, Aligned>;                 // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;                     // a handler may interrupt
} // namespace quarantine

using Quarantine = ANSIWrapper<quarantine::SignalSafe>; // the C rules

} // namespace heapwright::misuse
