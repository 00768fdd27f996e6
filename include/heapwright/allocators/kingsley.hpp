// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Kingsley's allocator (4.2BSD): 29 power-of-two classes with a list each. Nothing is ever split or
// merged, nothing is given back: the fastest of the simple ones, and the fattest.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace kingsley {
using Chunks = ChunkHeap<1 * MiB, 8, MmapHeap>;         // pages, carved once
using Source = SizeHeap<Chunks>;                        // each object remembers its size
using PerClass = FreelistHeap<NullHeap>;                // what is freed waits on its class's list
using Classes = PowerOfTwo<29>;                         // blocks of 16 bytes to 4 GiB
using Lists = StrictSegHeap<Classes, PerClass, Source>; // an object never leaves its class
using Checked = CheckedHeap<Lists>;                     // a wrong free ends the program
using Aligned = AlignHeap<Checked>;                     // any alignment
using Locked = LockedHeap<FutexLock, Aligned>;          // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;              // a handler may interrupt
} // namespace kingsley

using Kingsley = ANSIWrapper<kingsley::SignalSafe>; // the C rules

static_assert(SizedHeap<Kingsley> && AlignedHeap<Kingsley> && ForkableHeap<Kingsley>);

} // namespace heapwright::allocators
