// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Kingsley's allocator (4.2BSD): 29 power-of-two classes, each with a list. It never splits or
// merges objects and never returns memory. It is the fastest of the simple allocators and uses the
// most memory.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace kingsley {
using Chunks = ChunkHeap<1 * MiB, 8, MmapHeap>; // pages, carved once
using Source = SizeHeap<Chunks>;                // each object remembers its size
// Freed objects wait on the list of their class.
using PerClass = FreelistHeap<NullHeap>;
using Classes = PowerOfTwo<29>;                         // blocks of 16 bytes to 4 GiB
using Lists = StrictSegHeap<Classes, PerClass, Source>; // an object never leaves its class
using Checked = CheckedHeap<Lists>;                     // a wrong free ends the program
using Aligned = AlignHeap<Checked>;                     // alignment to any power of two
using Locked = LockedHeap<FutexLock, Aligned>;          // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;              // a handler may interrupt
} // namespace kingsley

using Kingsley = ANSIWrapper<kingsley::SignalSafe>; // the C rules

static_assert(SizedHeap<Kingsley> && AlignedHeap<Kingsley> && ForkableHeap<Kingsley>);

} // namespace heapwright::allocators
