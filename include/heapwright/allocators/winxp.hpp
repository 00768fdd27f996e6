// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After the heap of Windows XP: best fit with 127 exact quicklists, and one sorted list for larger
// blocks.
//
// In the original, the lists are for each multiple of 8 bytes up to 1,024. Larger objects come from
// a list that is searched from end to end. Here objects are aligned to 16 and have a tag of 8
// bytes. Each of the 127 lists is for blocks of one multiple of 16, up to 2,048 bytes, of which the
// object has 2,040.
//
// Small freed objects wait on the lists. They merge when no other free memory is left, before the
// heap grows. Merged blocks are sorted by size again; above 2,048 bytes they are on one list.
// Cost: above 2,048 bytes, linear in the number of blocks on that list.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace winxp {
using Objects = CoalesceableHeap<SbrkHeap>; // each object knows its neighbours
using Fit = ExactFit<127, BestFit>;         // a list for each small size, one for the rest
using Blocks = SequentialFitHeap<Fit, 128 * KiB, Objects>;
using PerClass = FreelistHeap<NullHeap>; // freed small objects wait
using QuickClasses = Exact<127>;         // up to 2,040 bytes, by multiples of 16
using Quick = StrictSegHeap<QuickClasses, PerClass, Blocks>;
using Limit = FixedLimit<512 * KiB>;                     // larger requests are mapped
using Selected = SelectMmapHeap<Limit, MmapHeap, Quick>; // large objects get their own mapping
using Checked = CheckedHeap<Selected>;                   // a wrong free ends the program
using Locked = LockedHeap<FutexLock, Checked>;           // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;               // a handler may interrupt
} // namespace winxp

using WinXp = ANSIWrapper<winxp::SignalSafe>; // the C rules

static_assert(SizedHeap<WinXp> && AlignedHeap<WinXp> && ForkableHeap<WinXp>);
static_assert(RelocatingHeap<winxp::Locked> && TrimmableHeap<winxp::Locked>);

} // namespace heapwright::allocators
