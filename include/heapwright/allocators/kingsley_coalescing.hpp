// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Kingsley's allocator with one rung more: under the lists a heap that splits and merges. Before
// memory is fetched from the system, what waits on the lists goes down there and may serve another
// class. Leaner by much, slower by a little.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace kingsley_coalescing {
using Objects = CoalesceableHeap<MmapHeap>;             // each object knows its neighbours
using Source = CoalesceHeap<256 * KiB, Objects>;        // split and merged
using PerClass = FreelistHeap<NullHeap>;                // what is freed waits on its class's list
using Classes = AtLeast<24, PowerOfTwo<29>>;            // blocks of 32 bytes to 4 GiB
using Lists = StrictSegHeap<Classes, PerClass, Source>; // merges what waits before it grows
using Checked = CheckedHeap<Lists>;                     // a wrong free ends the program
using Aligned = AlignHeap<Checked>;                     // any alignment
using Locked = LockedHeap<FutexLock, Aligned>;          // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;              // a handler may interrupt
} // namespace kingsley_coalescing

using KingsleyCoalescing = ANSIWrapper<kingsley_coalescing::SignalSafe>; // the C rules

static_assert(SizedHeap<KingsleyCoalescing> && AlignedHeap<KingsleyCoalescing>);
static_assert(ForkableHeap<KingsleyCoalescing> && TrimmableHeap<kingsley_coalescing::Locked>);

} // namespace heapwright::allocators
