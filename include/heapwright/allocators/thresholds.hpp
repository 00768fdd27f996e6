// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Private heaps with thresholds, after the kernel allocator of DYNIX (McKenney and Slingwine 1993).
// A thread caches freed objects up to a target. Further objects go in batches of that size to
// depots that all threads share. From there they go to a layer that merges objects into blocks,
// which can serve other sizes. Memory that one thread frees thus reaches a thread that needs it,
// and blowup is bounded. Doug Lea's allocator, behind one lock, serves requests above 4 KiB.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace thresholds {
// Objects up to 4 KiB.
using Pages = AlignedBlockHeap<32 * KiB, 1 * MiB, MmapHeap>; // blocks, for any class
using Classes = GeometricSlots<2, 1, 16, 4 * KiB>;           // powers of two
using Merging = SuperblockHeap<Classes, Pages>;              // objects are collected into blocks
using Shared = LockedHeap<FutexLock, Merging>;               // one thread at a time
using Small = BatchCacheHeap<Classes, 32, 16, 2048, Shared>; // a cache for each thread, and depots

// Larger objects.
using Objects = CoalesceableHeap<SbrkHeap>;               // each object knows its neighbours
using Blocks = CoalesceHeap<128 * KiB, Objects>;          // split and merged, best fit
using Limit = RisingLimit<128 * KiB, 32 * MiB>;           // larger requests are mapped
using Selected = SelectMmapHeap<Limit, MmapHeap, Blocks>; // large objects get their own mapping
using Checked = CheckedHeap<Selected>;                    // a wrong free ends the program
using Large = LockedHeap<FutexLock, Checked>;             // one thread at a time

using Split = SplitHeap<4 * KiB, Small, Large>; // small and large objects
using SignalSafe = SignalSafeHeap<Split>;       // a handler may interrupt
} // namespace thresholds

using Thresholds = ANSIWrapper<thresholds::SignalSafe>; // the C rules

static_assert(SizedHeap<Thresholds> && AlignedHeap<Thresholds> && ForkableHeap<Thresholds>);
static_assert(ConcurrentHeap<thresholds::Split> && TrimmableHeap<thresholds::Split>);

} // namespace heapwright::allocators
