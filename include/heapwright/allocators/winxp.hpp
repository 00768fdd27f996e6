// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After the heap of Windows XP: best fit, 127 exact quicklists, one sorted list for what is larger.
//
// There the lists are for each multiple of 8 bytes, and beyond them, above 1,024 bytes, objects
// come from a list that is searched from end to end. Objects here stand on multiples of 16 and have
// a tag of 8, so each of the 127 lists is for blocks of one multiple of 16, and they reach twice as
// far: to 2,048 bytes, of which 2,040 are the object's. Small freed objects wait on the lists and
// merge when there is nothing else before the heap grows; what has merged is sorted by size again,
// and above 2,048 bytes that is one list, at a cost that rises with the blocks on it.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace winxp {
using Objects = CoalesceableHeap<SbrkHeap>; // each object knows its neighbours
using Fit = ExactFit<127, BestFit>;         // a list for each small size, one for the others
using Blocks = SequentialFitHeap<Fit, 128 * KiB, Objects>;
using PerClass = FreelistHeap<NullHeap>; // freed small objects wait
using QuickClasses = Exact<127>;         // up to 2,040 bytes, by multiples of 16
using Quick = StrictSegHeap<QuickClasses, PerClass, Blocks>;
using Limit = FixedLimit<512 * KiB>;                     // from here on large
using Selected = SelectMmapHeap<Limit, MmapHeap, Quick>; // large objects get their own mapping
using Checked = CheckedHeap<Selected>;                   // a wrong free ends the program
using Locked = LockedHeap<FutexLock, Checked>;           // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;               // a handler may interrupt
} // namespace winxp

using WinXp = ANSIWrapper<winxp::SignalSafe>; // the C rules

static_assert(SizedHeap<WinXp> && AlignedHeap<WinXp> && ForkableHeap<WinXp>);
static_assert(RelocatingHeap<winxp::Locked> && TrimmableHeap<winxp::Locked>);

} // namespace heapwright::allocators
