// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reaps (Berger, 2002): regions whose objects can also be freed one by one. A pointer moves through
// chunks from 8 KiB, doubling, to 1 MiB; what is freed goes to a heap like Doug Lea's, which serves
// until it has none that fits, and then the pointer moves again.
//
// `NestedReap` is the reap of a program, `SharedReap` the same for several threads: clearing one
// frees all that is in it, the reaps inside too. `Reap` is one of them as a program's malloc, with
// mappings for large objects; nobody clears that.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace reap {
using Nowhere = CoalesceableHeap<SizeHeap<NullHeap>>;    // memory comes only by free
using Fit = ExactFit<14, SizeTries>;                     // lists below 256 bytes, then tries
using Merged = SequentialFitHeap<Fit, 4 * KiB, Nowhere>; // split and merged, best fit
using PerClass = FreelistHeap<NullHeap>;                 // freed small objects wait
using Quick = StrictSegHeap<Exact<8>, PerClass, Merged>; // up to 136 bytes, by 16
using Freed = ThresholdHeap<512, Quick>;                 // and merge when this is asked for
template <UnphasedHeap Source>
using Chunks = RegionHeap<8 * KiB, 1 * MiB, Source>; // larger and larger
template <UnphasedHeap Source>
using Objects = ClearOptimizedHeap<Freed, Chunks<Source>>; // quick until something is freed

using Checked = CheckedHeap<Objects<MmapHeap>>;            // a wrong free ends the program
using Limit = RisingLimit<128 * KiB, 32 * MiB>;            // from here on large
using Selected = SelectMmapHeap<Limit, MmapHeap, Checked>; // large objects get their own mapping
using Locked = LockedHeap<FutexLock, Selected>;            // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;                 // a handler may interrupt
} // namespace reap

/// A reap, alone or inside another, for one thread at a time; for as many as like.
template <UnphasedHeap Source>
using NestedReap = NestedHeap<reap::Objects<Source>>;
template <UnphasedHeap Source>
using SharedReap = NestedHeap<LockedHeap<FutexLock, reap::Objects<Source>>>;

using Reap = ANSIWrapper<reap::SignalSafe>; // the C rules

static_assert(SizedHeap<Reap> && AlignedHeap<Reap> && ForkableHeap<Reap>);
static_assert(ClearableHeap<NestedReap<MallocHeap>> && ConcurrentHeap<SharedReap<MallocHeap>>);

} // namespace heapwright::allocators
