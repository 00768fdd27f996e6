// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Private heaps with thresholds, after the kernel allocator of DYNIX (McKenney and Slingwine 1993):
// a thread keeps what it frees up to a target, and batches of that many go whole to depots that all
// share, and from there to a layer that merges objects into blocks, which serve other sizes again.
// So memory that one thread frees comes back to the one that needs it, and blowup is bounded. What
// is larger than 4 KiB is Doug Lea's, behind one lock.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace thresholds {
// Up to 4 KiB.
using Pages = AlignedBlockHeap<32 * KiB, 1 * MiB, MmapHeap>; // blocks, for any class
using Classes = GeometricSlots<2, 1, 16, 4 * KiB>;           // powers of two
using Merging = SuperblockHeap<Classes, Pages>;              // objects make up blocks
using Shared = LockedHeap<FutexLock, Merging>;               // one thread at a time
using Small = BatchCacheHeap<Classes, 32, 16, 2048, Shared>; // each thread's own, and depots

// Larger.
using Objects = CoalesceableHeap<SbrkHeap>;               // each object knows its neighbours
using Blocks = CoalesceHeap<128 * KiB, Objects>;          // split and merged, best fit
using Limit = RisingLimit<128 * KiB, 32 * MiB>;           // from here on large
using Selected = SelectMmapHeap<Limit, MmapHeap, Blocks>; // large objects get their own mapping
using Checked = CheckedHeap<Selected>;                    // a wrong free ends the program
using Large = LockedHeap<FutexLock, Checked>;             // one thread at a time

using Split = SplitHeap<4 * KiB, Small, Large>; // small and large
using SignalSafe = SignalSafeHeap<Split>;       // a handler may interrupt
} // namespace thresholds

using Thresholds = ANSIWrapper<thresholds::SignalSafe>; // the C rules

static_assert(SizedHeap<Thresholds> && AlignedHeap<Thresholds> && ForkableHeap<Thresholds>);
static_assert(ConcurrentHeap<thresholds::Split> && TrimmableHeap<thresholds::Split>);

} // namespace heapwright::allocators
