// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After Gloger's ptmalloc3: the arenas of ptmalloc2 over Doug Lea's 2.8. Each freed object merges
// at once. Free blocks below 256 bytes have a list for each size. Larger ones are in binary tries,
// which give the best fit.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace ptmalloc3 {
using Region = ReserveHeap<16 * MiB>;                    // the memory of an arena
using Objects = CoalesceableHeap<Region>;                // each object knows its neighbours
using Fit = ExactFit<14, SizeTries>;                     // lists below 256 bytes, tries above
using Blocks = SequentialFitHeap<Fit, 1 * MiB, Objects>; // split and merged, best fit
using Checked = CheckedHeap<Blocks>;                     // a wrong free ends the program
using Arena = LockedHeap<FutexLock, Checked>;            // one thread at a time
using Arenas = ArenaHeap<FirstFree<128>, Arena>;         // the last arena, or one that is free
using Large = CheckedHeap<MmapHeap>;                     // pages for one object
using Limit = FixedLimit<256 * KiB>;                     // larger requests are mapped
using Selected = SelectMmapHeap<Limit, Large, Arenas>;   // large objects get their own mapping
using SignalSafe = SignalSafeHeap<Selected>;             // a handler may interrupt
} // namespace ptmalloc3

using Ptmalloc3 = ANSIWrapper<ptmalloc3::SignalSafe>; // the C rules

static_assert(SizedHeap<Ptmalloc3> && AlignedHeap<Ptmalloc3> && ForkableHeap<Ptmalloc3>);
static_assert(ConcurrentHeap<ptmalloc3::Selected> && ForkableHeap<ptmalloc3::Selected>);

} // namespace heapwright::allocators
