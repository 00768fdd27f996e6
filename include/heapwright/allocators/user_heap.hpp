// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A heap that a program creates for one tenant or subsystem, from granary's parts. Small objects
// lie in superblocks and large ones in runs of units. Both come from chunks that return to the
// system. Any thread may use it. There are four heaps of superblocks with a lock each, and no
// thread caches, so the end of a thread leaves nothing behind. Clearing or destroying the heap
// unmaps its chunks and touches no object.
//
// Small and large objects have chunks of their own, because each heap of extents belongs to one
// layer here. The region map distinguishes them, and finds objects of other heaps.
// Cost: 22 KiB for the heap itself.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace user_heap {
template <ExtentSystem System>
using Extents = ExtentHeap<32 * KiB, FutexLock, PurgeAfter<250>, System>;
using Classes = LinearSlots<1024, 4 * KiB, 16 * KiB>; // as in granary
using Rule = Emptiness<1, 4, 1>;                      // f = 1/4, K = 1
template <ExtentSystem System>
using Small = HoardHeap<Classes, ByThread<4>, Rule, AnyLines, Extents<System>>;
template <ExtentSystem System>
using Large = UnitObjectHeap<32 * KiB, Extents<System>>; // in runs of units
} // namespace user_heap

template <ExtentSystem System>
using UserHeap = SplitHeap<16 * KiB, user_heap::Small<System>, user_heap::Large<System>>;

static_assert(ConcurrentHeap<UserHeap<SystemExtents>> && ForkableHeap<UserHeap<SystemExtents>>);
static_assert(ClearableHeap<UserHeap<SystemExtents>> && CheckingHeap<UserHeap<SystemExtents>>);

} // namespace heapwright::allocators
