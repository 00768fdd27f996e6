// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Granary with the stricter promise about cache lines. An object never lies on a cache line with a
// live object of another thread, even if that thread has ended. So a thread caches the objects of
// its predecessors one by one, and many of their superblocks stay partly unused. The other layers
// are granary's.
#pragma once

#include <heapwright/allocators/granary.hpp>

namespace heapwright::allocators {

namespace granary_strict {
struct ExtentsName {};
struct SharedName {};
using Extents = UniqueHeap<ExtentsName, granary::Source>; // units of 32 KiB
using Small = HoardHeap<granary::Classes, granary::Assigned, granary::Rule, CleanLines, Extents>;
using Large = UnitObjectHeap<32 * KiB, Extents>; // in runs of units
using Shared = UniqueHeap<SharedName, SplitHeap<16 * KiB, Small, Large>>;
// A cache for each thread.
using Cached = OwnerCacheHeap<granary::Classes, granary::coarseLimits, PlainFreelist, Shared>;
// One of n objects on a guarded page, if the user asks for it.
using Sampled = GuardSampleHeap<16, GranarySettings, Cached>;
using HandlerSafe = HandlerSafeHeap<Sampled>; // a handler may interrupt
} // namespace granary_strict

using GranaryStrict = ANSIWrapper<granary_strict::HandlerSafe>; // the C rules

static_assert(SizedHeap<GranaryStrict> && AlignedHeap<GranaryStrict>);
static_assert(ForkableHeap<GranaryStrict> && ConcurrentHeap<granary_strict::Cached>);
static_assert(TrimmableHeap<granary_strict::Cached>);

} // namespace heapwright::allocators
