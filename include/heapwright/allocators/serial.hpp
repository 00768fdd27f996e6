// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The serial single heap: one good heap, and one lock around all of it. Any number of threads may
// call, one at a time is served. Inside is what each arena of ptmalloc2 is, so that a comparison of
// the two shows what the arenas do, and nothing else.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace serial {
using Objects = CoalesceableHeap<SbrkHeap>; // each object knows its neighbours
using Blocks = SequentialFitHeap<UnsortedBins, 128 * KiB, Objects>; // split and merged, best fit
using PerClass = FreelistHeap<NullHeap>;                            // freed small objects wait
using FastClasses = Exact<3>;                                       // below 64 bytes
using Fast = StrictSegHeap<FastClasses, PerClass, Blocks>;
using Small = ThresholdHeap<512, Fast>;                  // and merge when this is asked for
using Limit = FixedLimit<128 * KiB>;                     // from here on large
using Selected = SelectMmapHeap<Limit, MmapHeap, Small>; // large objects get their own mapping
using Checked = CheckedHeap<Selected>;                   // a wrong free ends the program
using Locked = LockedHeap<FutexLock, Checked>;           // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;               // a handler may interrupt
} // namespace serial

using Serial = ANSIWrapper<serial::SignalSafe>; // the C rules

static_assert(SizedHeap<Serial> && AlignedHeap<Serial> && ForkableHeap<Serial>);
static_assert(RelocatingHeap<serial::Locked> && TrimmableHeap<serial::Locked>);

} // namespace heapwright::allocators
