// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After Miser (Tannenbaum 2009): Hoard's superblocks for small objects, of five power-of-two
// classes up to 256 bytes. There is a heap for each of up to 1,024 threads, and a global heap with
// which they exchange superblocks; further threads share one heap. Miser leaves larger objects to
// the system's allocator. Here that is Doug Lea's, behind one lock.
//
// Superblocks are in five groups by fullness, and the empty ones apart. Difference from the
// original: the smallest class is 16 bytes and not 8.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace miser {
// Objects up to 256 bytes.
using Superblocks = AlignedBlockHeap<16 * KiB, 1 * MiB, MmapHeap>;
using Classes = GeometricSlots<2, 1, 16, 256>; // 16, 32, 64, 128 and 256 bytes
using Assigned = OwnHeap<1024>;                // a heap for each thread
using Rule = InParts<4, Emptiness<1, 4, 4>>;   // four lists and one of full ones; empty ones apart
using Small = HoardHeap<Classes, Assigned, Rule, AnyLines, Superblocks>;

// The system's allocator, for larger objects.
using Objects = CoalesceableHeap<SbrkHeap>;               // each object knows its neighbours
using Blocks = CoalesceHeap<128 * KiB, Objects>;          // split and merged, best fit
using Limit = RisingLimit<128 * KiB, 32 * MiB>;           // larger requests are mapped
using Selected = SelectMmapHeap<Limit, MmapHeap, Blocks>; // large objects get their own mapping
using Checked = CheckedHeap<Selected>;                    // a wrong free ends the program
using System = LockedHeap<FutexLock, Checked>;            // one thread at a time

using Split = SplitHeap<256, Small, System>; // small and other objects
using SignalSafe = SignalSafeHeap<Split>;    // a handler may interrupt
} // namespace miser

using Miser = ANSIWrapper<miser::SignalSafe>; // the C rules

static_assert(SizedHeap<Miser> && AlignedHeap<Miser> && ForkableHeap<Miser>);
static_assert(ConcurrentHeap<miser::Split> && TrimmableHeap<miser::Split>);

} // namespace heapwright::allocators
