// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Granary: Hoard's memory, whose bound is proven, behind a cache for each thread that keeps only
// what is at home with it. All objects are in units of 32 KiB out of chunks that go back to the
// system in time: small ones in superblocks, which are found by masking the address, start in
// constant time and are touched page by page; large ones in runs of units. What a signal handler
// needs is done by who runs it. docs/decisions/granary.md has the figures that it is made by.
#pragma once

#include <heapwright/heap.hpp>
#include <heapwright/structure/settings/granary_settings.hpp>
#include <heapwright/sync/counted_lock.hpp>

namespace heapwright::allocators {

namespace granary {
struct ExtentsName {};
struct SharedName {};
// What a thread keeps for itself.
inline constexpr auto limits = CacheLimits{.perClassBytes = 8 * KiB,
                                           .perClassObjects = 64,
                                           .refillBytes = 2 * KiB,
                                           .batchObjects = 16,
                                           .remoteObjects = 32,
                                           .remoteBytes = 64 * KiB};
using Mutex = CountedLock<FutexLock>;
using Source = ExtentHeap<32 * KiB, Mutex, GranarySettings, SystemExtents>; // as the user sets it
using Extents = UniqueHeap<ExtentsName, Source>;      // units of 32 KiB, for small and large
using Classes = LinearSlots<1024, 4 * KiB, 16 * KiB>; // 16 apart, then 8 and 4 a doubling
using Rule = Counted<Emptiness<1, 4, 1>>;             // f = 1/4, K = 1
using Small = HoardHeap<Classes, OwnHeap<2047>, Rule, CleanLines, Extents>;
using Large = UnitObjectHeap<32 * KiB, Extents>;                          // in runs of units
using Shared = UniqueHeap<SharedName, SplitHeap<16 * KiB, Small, Large>>; // S/2 and more is large
using Cached = OwnerCacheHeap<Classes, limits, PlainFreelist, Shared>;    // each thread's own
using HandlerSafe = HandlerSafeHeap<Cached>;                              // a handler may interrupt
} // namespace granary

using Granary = ANSIWrapper<granary::HandlerSafe>; // the C rules

static_assert(SizedHeap<Granary> && AlignedHeap<Granary> && ForkableHeap<Granary>);
static_assert(ConcurrentHeap<granary::Cached> && TrimmableHeap<granary::Cached>);

} // namespace heapwright::allocators
