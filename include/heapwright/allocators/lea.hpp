// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Doug Lea's allocator, version 2.7.0: small objects wait on exact lists and merge only when a
// large request comes or memory runs out; the others are split and merged at once and served about
// the best fit; the largest have mappings of their own.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace lea {
using Objects = CoalesceableHeap<SbrkHeap>;      // each object knows its neighbours
using Blocks = CoalesceHeap<128 * KiB, Objects>; // split and merged, best fit
using PerClass = FreelistHeap<NullHeap>;         // freed small objects wait
using QuickClasses = Exact<4>;                   // up to 72 bytes, by multiples of 16
using Quick = StrictSegHeap<QuickClasses, PerClass, Blocks>;
using Small = ThresholdHeap<512, Quick>;                 // and merge when this is asked for
using Limit = RisingLimit<128 * KiB, 32 * MiB>;          // from here on large
using Selected = SelectMmapHeap<Limit, MmapHeap, Small>; // large objects get their own mapping
using Checked = CheckedHeap<Selected>;                   // a wrong free ends the program
using Locked = LockedHeap<FutexLock, Checked>;           // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;               // a handler may interrupt
} // namespace lea

using Lea = ANSIWrapper<lea::SignalSafe>; // the C rules

static_assert(SizedHeap<Lea> && AlignedHeap<Lea> && ForkableHeap<Lea>);
static_assert(RelocatingHeap<lea::Locked> && TrimmableHeap<lea::Locked>);

} // namespace heapwright::allocators
