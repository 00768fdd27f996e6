// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Kingsley's size classes over a heap that splits and merges, without lists of freed objects. Each
// free merges the object with its free neighbours at once. `kingsley_coalescing.hpp` defers this
// until the heap would grow.
// Source: the thesis of 2002, section 4.5, describes both ways.
#pragma once

#include <heapwright/allocators/kingsley_coalescing.hpp>

namespace heapwright::allocators {

namespace kingsley_immediate {
using kingsley_coalescing::Classes;
using kingsley_coalescing::Source;
using PerClass = BoundedFreelistHeap<0, NullHeap>; // keeps nothing
// Every freed object goes to the source.
using Rounded = StrictSegHeap<Classes, PerClass, Source>;
using Checked = CheckedHeap<Rounded>;          // a wrong free ends the program
using Aligned = AlignHeap<Checked>;            // alignment to any power of two
using Locked = LockedHeap<FutexLock, Aligned>; // one thread at a time
using SignalSafe = SignalSafeHeap<Locked>;     // a handler may interrupt
} // namespace kingsley_immediate

using KingsleyImmediate = ANSIWrapper<kingsley_immediate::SignalSafe>; // the C rules

static_assert(SizedHeap<KingsleyImmediate> && AlignedHeap<KingsleyImmediate>);
static_assert(ForkableHeap<KingsleyImmediate> && TrimmableHeap<kingsley_immediate::Locked>);

} // namespace heapwright::allocators
