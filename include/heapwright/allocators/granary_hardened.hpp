// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Granary with layers put in that find misuse of the heap, and end the program at it: a map of live
// objects, canaries at their ends, a quarantine for each thread, encoded links in what its cache
// keeps, and pages that nobody may touch between superblocks and behind large objects. All else is
// granary's. docs/granary-hardened.md says what each finds and what it costs.
#pragma once

#include <heapwright/allocators/granary.hpp>

namespace heapwright::allocators {

namespace granary_hardened {
struct SharedName {};
struct ExtentsName {};
using Gaps = GuardGapHeap<32 * KiB, 32 * MiB, 16384, FutexLock, granary::Source>; // closed pages
using Extents = UniqueHeap<ExtentsName, Gaps>; // units of 32 KiB, a closed one behind each run
using Small = HoardHeap<granary::Classes, OwnHeap<2047>, granary::Rule, CleanLines, Extents>;
using Large = UnitObjectHeap<32 * KiB, Extents>; // in runs of units
using Shared = UniqueHeap<SharedName, SplitHeap<16 * KiB, Small, Large>>;
using Cached = OwnerCacheHeap<granary::Classes, granary::limits, EncodedFreelist, Shared>;
using Waiting = ThreadQuarantineHeap<256, 256 * KiB, 2048, Cached>; // late, in random order
using SignalSafe = SignalSafeHeap<Waiting>;                         // a handler may interrupt
using Guarded = TailCanaryHeap<SignalSafe>;                         // the end of each object
using Known = LiveMapHeap<Guarded>;                                 // what is live, and what not
} // namespace granary_hardened

using GranaryHardened = ANSIWrapper<granary_hardened::Known>; // the C rules

static_assert(SizedHeap<GranaryHardened> && AlignedHeap<GranaryHardened>);
static_assert(ForkableHeap<GranaryHardened> && ConcurrentHeap<granary_hardened::Known>);
static_assert(InspectableHeap<GranaryHardened> && WalkableHeap<GranaryHardened>);
static_assert(PurgeableHeap<GranaryHardened> && TrimmableHeap<GranaryHardened>);

} // namespace heapwright::allocators
