// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Doug Lea's allocator, version 2.7.0. Small freed objects wait on exact lists and merge only on a
// large request or when memory runs out. Other objects are split and merged at once, and served by
// approximate best fit. The largest have mappings of their own.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace lea {
using Objects = CoalesceableHeap<SbrkHeap>;      // each object knows its neighbours
using Blocks = CoalesceHeap<128 * KiB, Objects>; // split and merged, best fit
using PerClass = FreelistHeap<NullHeap>;         // freed small objects wait
using QuickClasses = Exact<4>;                   // up to 72 bytes, by multiples of 16
using Quick = StrictSegHeap<QuickClasses, PerClass, Blocks>;
using Small = ThresholdHeap<512, Quick>;                 // a large request merges them
using Limit = RisingLimit<128 * KiB, 32 * MiB>;          // larger requests are mapped
using Selected = SelectMmapHeap<Limit, MmapHeap, Small>; // large objects get their own mapping
using Checked = CheckedHeap<Selected>;                   // a wrong free ends the program
using Locked = LockedHeap<FutexLock, Checked>;           // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;               // a handler may interrupt
} // namespace lea

using Lea = ANSIWrapper<lea::SignalSafe>; // the C rules

static_assert(SizedHeap<Lea> && AlignedHeap<Lea> && ForkableHeap<Lea>);
static_assert(RelocatingHeap<lea::Locked> && TrimmableHeap<lea::Locked>);

} // namespace heapwright::allocators
