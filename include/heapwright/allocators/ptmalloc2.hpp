// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After Gloger's ptmalloc2, which is the GNU C library's allocator without the thread cache. Each
// arena is a heap of Doug Lea's 2.7 with a lock. A thread stays with its arena until it finds the
// lock taken. Then it takes the first arena that is free; if none is, a new arena is created, up to
// a maximum. Objects return to the arena that they came from, and arenas never exchange memory.
//
// The address of an object determines its arena, because each arena grows in regions of 16 MiB of
// addresses.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace ptmalloc2 {
using Region = ReserveHeap<16 * MiB>;     // the memory of an arena
using Objects = CoalesceableHeap<Region>; // each object knows its neighbours
using Blocks = SequentialFitHeap<UnsortedBins, 128 * KiB, Objects>; // split and merged, best fit
using PerClass = FreelistHeap<NullHeap>;                            // freed small objects wait
using FastClasses = Exact<3>;                                       // below 64 bytes
using Fast = StrictSegHeap<FastClasses, PerClass, Blocks>;
using Heap = ThresholdHeap<512, Fast>;                 // a large request merges them
using Checked = CheckedHeap<Heap>;                     // a wrong free ends the program
using Arena = LockedHeap<FutexLock, Checked>;          // one thread at a time
using Arenas = ArenaHeap<FirstFree<128>, Arena>;       // the last arena, or one that is free
using Large = CheckedHeap<MmapHeap>;                   // pages for one object
using Limit = FixedLimit<128 * KiB>;                   // larger requests are mapped
using Selected = SelectMmapHeap<Limit, Large, Arenas>; // large objects get their own mapping
using SignalSafe = SignalSafeHeap<Selected>;           // a handler may interrupt
} // namespace ptmalloc2

using Ptmalloc2 = ANSIWrapper<ptmalloc2::SignalSafe>; // the C rules

static_assert(SizedHeap<Ptmalloc2> && AlignedHeap<Ptmalloc2> && ForkableHeap<Ptmalloc2>);
static_assert(ConcurrentHeap<ptmalloc2::Selected> && ForkableHeap<ptmalloc2::Selected>);

} // namespace heapwright::allocators
