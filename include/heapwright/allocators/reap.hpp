// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A reap (Berger, 2002) as a program's malloc: a pointer moves through chunks from 8 KiB, doubling,
// to 1 MiB; what is freed goes to a heap like Doug Lea's, which serves until it has none that fits,
// and then the pointer moves again. Chunks are never given back, since nobody clears it; large
// objects have mappings of their own. The reaps that a program makes are in nested_reap.hpp.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace reap {
using Nowhere = CoalesceableHeap<SizeHeap<NullHeap>>;      // memory comes only by free
using Merged = CoalesceHeap<4 * KiB, Nowhere>;             // split and merged, best fit
using PerClass = FreelistHeap<NullHeap>;                   // freed small objects wait
using Quick = StrictSegHeap<Exact<4>, PerClass, Merged>;   // up to 72 bytes, by 16
using Freed = ThresholdHeap<512, Quick>;                   // and merge when this is asked for
using Chunks = RegionHeap<8 * KiB, 1 * MiB, MmapHeap>;     // larger and larger
using Objects = ClearOptimizedHeap<Freed, Chunks>;         // quick until something is freed
using Limit = RisingLimit<128 * KiB, 32 * MiB>;            // from here on large
using Selected = SelectMmapHeap<Limit, MmapHeap, Objects>; // large objects get their own mapping
using Checked = CheckedHeap<Selected>;                     // a wrong free ends the program
using Locked = LockedHeap<FutexLock, Checked>;             // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;                 // a handler may interrupt
} // namespace reap

using Reap = ANSIWrapper<reap::SignalSafe>; // the C rules

static_assert(SizedHeap<Reap> && AlignedHeap<Reap> && ForkableHeap<Reap>);

} // namespace heapwright::allocators
