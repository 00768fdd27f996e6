// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After the kernel's SLQB, which was never merged: a queue of free objects for each processor,
// which gives batches back to its slabs; what is freed elsewhere is handed to its owner (Piggin
// 2009). Over pages in buddies as the kernel has them. What is larger than 1,024 pages has a
// mapping of its own.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace slqb {
using Pages = KernelPageHeap<1, 16 * MiB, FutexLock, MmapHeap>; // buddies, apart by mobility
using Objects =
    SlqbHeap<RealProcessors<16>, FutexLock, Pages>; // a queue of free objects for each processor
using Large = CheckedHeap<MmapHeap>;                // a mapping for each
using Split = SplitHeap<4 * MiB, Objects, Large>;   // large ones apart
using SignalSafe = SignalSafeHeap<Split>;           // a handler may interrupt
using Known = LiveMapHeap<SignalSafe>;              // a wrong free ends the program
} // namespace slqb

using Slqb = ANSIWrapper<slqb::Known>; // the C rules

static_assert(SizedHeap<Slqb> && AlignedHeap<Slqb> && ForkableHeap<Slqb>);
static_assert(ConcurrentHeap<slqb::Split> && TrimmableHeap<slqb::Split>);

} // namespace heapwright::allocators
