// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Granary with additional layers that detect misuse of the heap and end the program. They are a map
// of live objects, canaries at the ends of objects, a quarantine for each thread, and encoded links
// in the thread caches. Inaccessible pages lie between superblocks and behind large objects, and
// are the objects of zero bytes. Recycled memory is zero. No class takes its first objects from a
// coarser class. Cache lines are kept clean as in granary_strict.hpp. The other layers are
// granary's. docs/reference/granary-hardened.md lists what each detects and what it costs.
#pragma once

#include <heapwright/allocators/granary.hpp>

namespace heapwright::allocators {

namespace granary_hardened {
struct SharedName {};
struct ExtentsName {};
// Inaccessible pages.
using Gaps = GuardGapHeap<32 * KiB, 32 * MiB, 16384, FutexLock, granary::Source>;
// Units of 32 KiB, an inaccessible one after each run.
using Extents = UniqueHeap<ExtentsName, Gaps>;
using Small = HoardHeap<granary::Classes, granary::Assigned, granary::Rule, CleanLines, Extents>;
using Large = UnitObjectHeap<32 * KiB, Extents>; // in runs of units
using Shared = UniqueHeap<SharedName, SplitHeap<16 * KiB, Small, Large>>;
using Cached = OwnerCacheHeap<granary::Classes, granary::limits, EncodedFreelist, Shared>;
// Delayed reuse, in random order.
using Waiting = ThreadQuarantineHeap<256, 256 * KiB, 2048, Cached>;
using SignalSafe = SignalSafeHeap<Waiting>; // a handler may interrupt
// A canary at the end of each object.
using Guarded = TailCanaryHeap<SignalSafe>;
using Zeroed = ZeroOnMallocHeap<16 * KiB, Guarded>; // recycled memory is zero; pages always are
using Empty = EmptyObjectHeap<1 * MiB, Zeroed>;     // objects of zero bytes without access
using Known = LiveMapHeap<Empty>;                   // a map of live objects
} // namespace granary_hardened

using GranaryHardened = ANSIWrapper<granary_hardened::Known>; // the C rules

static_assert(SizedHeap<GranaryHardened> && AlignedHeap<GranaryHardened>);
static_assert(ForkableHeap<GranaryHardened> && ConcurrentHeap<granary_hardened::Known>);
static_assert(InspectableHeap<GranaryHardened> && WalkableHeap<GranaryHardened>);
static_assert(PurgeableHeap<GranaryHardened> && TrimmableHeap<GranaryHardened>);

} // namespace heapwright::allocators
