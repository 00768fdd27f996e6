// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A reap (Berger, 2002) as a program's malloc. A pointer moves through chunks that double from 8
// KiB to 1 MiB. Freed objects go to a heap like Doug Lea's. Requests are served from that heap
// until no block fits; then the pointer moves again. Chunks are never returned, because the program
// never clears the heap. Large objects have mappings of their own. nested_reap.hpp has the reaps
// that a program creates.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace reap {
using Nowhere = CoalesceableHeap<SizeHeap<NullHeap>>;      // memory comes only from frees
using Merged = CoalesceHeap<4 * KiB, Nowhere>;             // split and merged, best fit
using PerClass = FreelistHeap<NullHeap>;                   // freed small objects wait
using Quick = StrictSegHeap<Exact<4>, PerClass, Merged>;   // up to 72 bytes, by 16
using Freed = ThresholdHeap<512, Quick>;                   // a large request merges them
using Chunks = RegionHeap<8 * KiB, 1 * MiB, MmapHeap>;     // chunks that double in size
using Objects = ClearOptimizedHeap<Freed, Chunks>;         // a pointer until the first free
using Limit = RisingLimit<128 * KiB, 32 * MiB>;            // larger requests are mapped
using Selected = SelectMmapHeap<Limit, MmapHeap, Objects>; // large objects get their own mapping
using Checked = CheckedHeap<Selected>;                     // a wrong free ends the program
using Locked = LockedHeap<FutexLock, Checked>;             // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;                 // a handler may interrupt
} // namespace reap

using Reap = ANSIWrapper<reap::SignalSafe>; // the C rules

static_assert(SizedHeap<Reap> && AlignedHeap<Reap> && ForkableHeap<Reap>);

} // namespace heapwright::allocators
