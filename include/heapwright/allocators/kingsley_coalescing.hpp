// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Kingsley's allocator with one more layer: a heap below the lists that splits and merges. Before
// it asks the system for memory, the objects on the lists are returned to that heap and may then
// serve another class. It needs much less memory and is slightly slower.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace kingsley_coalescing {
using Objects = CoalesceableHeap<MmapHeap>;      // each object knows its neighbours
using Source = CoalesceHeap<256 * KiB, Objects>; // split and merged
// Freed objects wait on the list of their class.
using PerClass = FreelistHeap<NullHeap>;
using Classes = AtLeast<24, PowerOfTwo<29>>; // blocks of 32 bytes to 4 GiB
// Merges the waiting objects before it grows.
using Lists = StrictSegHeap<Classes, PerClass, Source>;
using Checked = CheckedHeap<Lists>;            // a wrong free ends the program
using Aligned = AlignHeap<Checked>;            // alignment to any power of two
using Locked = LockedHeap<FutexLock, Aligned>; // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;     // a handler may interrupt
} // namespace kingsley_coalescing

using KingsleyCoalescing = ANSIWrapper<kingsley_coalescing::SignalSafe>; // the C rules

static_assert(SizedHeap<KingsleyCoalescing> && AlignedHeap<KingsleyCoalescing>);
static_assert(ForkableHeap<KingsleyCoalescing> && TrimmableHeap<kingsley_coalescing::Locked>);

} // namespace heapwright::allocators
