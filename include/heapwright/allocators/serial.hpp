// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The serial single heap: one heap with one lock around all of it. One thread at a time is served.
// The heap is an arena of ptmalloc2, so a comparison of the two shows only the effect of the
// arenas.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace serial {
using Objects = CoalesceableHeap<SbrkHeap>; // each object knows its neighbours
using Blocks = SequentialFitHeap<UnsortedBins, 128 * KiB, Objects>; // split and merged, best fit
using PerClass = FreelistHeap<NullHeap>;                            // freed small objects wait
using FastClasses = Exact<3>;                                       // below 64 bytes
using Fast = StrictSegHeap<FastClasses, PerClass, Blocks>;
using Small = ThresholdHeap<512, Fast>;                  // a large request merges them
using Limit = FixedLimit<128 * KiB>;                     // larger requests are mapped
using Selected = SelectMmapHeap<Limit, MmapHeap, Small>; // large objects get their own mapping
using Checked = CheckedHeap<Selected>;                   // a wrong free ends the program
using Locked = LockedHeap<FutexLock, Checked>;           // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;               // a handler may interrupt
} // namespace serial

using Serial = ANSIWrapper<serial::SignalSafe>; // the C rules

static_assert(SizedHeap<Serial> && AlignedHeap<Serial> && ForkableHeap<Serial>);
static_assert(RelocatingHeap<serial::Locked> && TrimmableHeap<serial::Locked>);

} // namespace heapwright::allocators
