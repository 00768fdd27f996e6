// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After Gloger's ptmalloc3: the arenas of ptmalloc2 over Doug Lea's 2.8. Everything that is freed
// merges at once; free blocks below 256 bytes have a list for each size, the others are in binary
// tries, from which the best fit is served.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace ptmalloc3 {
using Region = ReserveHeap<16 * MiB>;     // where an arena grows
using Objects = CoalesceableHeap<Region>; // each object knows its neighbours
using Fit = ExactFit<14, SizeTries>;      // lists below 256 bytes, tries from there on
using Blocks = SequentialFitHeap<Fit, 64 * KiB, Objects>; // split and merged, best fit
using Checked = CheckedHeap<Blocks>;                      // a wrong free ends the program
using Arena = LockedHeap<FutexLock, Checked>;             // one thread at a time
using Arenas = ArenaHeap<FirstFree<128>, Arena>;          // the last one, or one that is free
using Large = CheckedHeap<MmapHeap>;                      // pages for one object
using Limit = FixedLimit<256 * KiB>;                      // from here on large
using Selected = SelectMmapHeap<Limit, Large, Arenas>;    // large objects get their own mapping
using SignalSafe = SignalSafeHeap<Selected>;              // a handler may interrupt
} // namespace ptmalloc3

using Ptmalloc3 = ANSIWrapper<ptmalloc3::SignalSafe>; // the C rules

static_assert(SizedHeap<Ptmalloc3> && AlignedHeap<Ptmalloc3> && ForkableHeap<Ptmalloc3>);
static_assert(ConcurrentHeap<ptmalloc3::Selected> && ForkableHeap<ptmalloc3::Selected>);

} // namespace heapwright::allocators
