// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Granary: Hoard's heaps, whose blowup is bounded, behind a cache for each thread that keeps only
// objects of the thread's own superblocks. All objects lie in units of 32 KiB, carved from chunks
// that return to the system after a decay time. Small objects lie in superblocks, which are found
// by masking the address, are initialised in constant time, and are touched page by page. Large
// objects lie in runs of units.
//
// The trampoline that runs a signal handler suspends the fast path. So the fast path sets no flag
// (layers/thread/handler_safe_heap.hpp). docs/decisions/granary.md has the reasons for the
// parameters. docs/results/granary-design has the measurements.
#pragma once

#include <heapwright/heap.hpp>
#include <heapwright/structure/settings/granary_settings.hpp>
#include <heapwright/sync/counted_lock.hpp>

namespace heapwright::allocators {

namespace granary {
struct ExtentsName {};
struct SharedName {};
// What a thread caches.
inline constexpr auto limits = CacheLimits{.perClassBytes = 8 * KiB,
                                           .perClassObjects = 64,
                                           .refillBytes = 2 * KiB,
                                           .batchObjects = 16,
                                           .remoteObjects = 32,
                                           .remoteBytes = 64 * KiB};
// A seldom used class takes its first objects from a coarser class.
inline constexpr auto coarseLimits = limits.withCoarseRefills(3);
using Mutex = CountedLock<FutexLock>;
// Settings can be changed by the user.
using Source = ExtentHeap<32 * KiB, Mutex, GranarySettings, SystemExtents>;
// Units of 32 KiB, for small and large objects.
using Extents = UniqueHeap<ExtentsName, Source>;
// Steps of 16, then 8 and 4 per doubling. The larger slots are stretched to fill a superblock.
using Classes = LinearSlots<1024, 4 * KiB, 16 * KiB, SuperblockFit<32 * KiB>>;
// f = 1/4. K = 2 for superblocks of 128 slots or more, otherwise K = 1.
using Rule = Counted<BySlots<128, Emptiness<1, 4, 2>, Emptiness<1, 4, 1>>>;
// Beyond 16 threads, a thread shares a heap until its 512th request or free of a small object.
// Beyond 32, and beyond twice as many threads as processors, until its 2,048th.
using Assigned = EarnedHeap<2047, 16, 512, 2048>;
using Small = HoardHeap<Classes, Assigned, Rule, CleanRunningLines, Extents>;
using Large = UnitObjectHeap<32 * KiB, Extents>; // in runs of units
// Larger than S/2 is large.
using Shared = UniqueHeap<SharedName, SplitHeap<16 * KiB, Small, Large>>;
// A cache for each thread.
using Cached = OwnerCacheHeap<Classes, coarseLimits, PlainFreelist, Shared>;
// One of n objects on a guarded page, if the user asks for it.
using Sampled = GuardSampleHeap<16, GranarySettings, Cached>;
using HandlerSafe = HandlerSafeHeap<Sampled>; // a handler may interrupt
} // namespace granary

using Granary = ANSIWrapper<granary::HandlerSafe>; // the C rules

static_assert(SizedHeap<Granary> && AlignedHeap<Granary> && ForkableHeap<Granary>);
static_assert(ConcurrentHeap<granary::Cached> && TrimmableHeap<granary::Cached>);

} // namespace heapwright::allocators
