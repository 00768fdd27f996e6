// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After the kernel's SLQB, which was never merged (Piggin 2009): a queue of free objects for each
// processor, which returns batches to its slabs. An object freed on another processor is handed to
// its owner. Pages come from buddies as in the kernel. A request for more than 1,024 pages has a
// mapping of its own.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace slqb {
using Pages = KernelPageHeap<1, 16 * MiB, FutexLock, MmapHeap>; // buddies, grouped by mobility
using Objects =
    SlqbHeap<RealProcessors<16>, FutexLock, Pages>; // a queue of free objects for each processor
using Large = CheckedHeap<MmapHeap>;                // a mapping for each
using Split = SplitHeap<4 * MiB, Objects, Large>;   // large objects apart
using SignalSafe = SignalSafeHeap<Split>;           // a handler may interrupt
using Known = LiveMapHeap<SignalSafe>;              // a wrong free ends the program
} // namespace slqb

using Slqb = ANSIWrapper<slqb::Known>; // the C rules

static_assert(SizedHeap<Slqb> && AlignedHeap<Slqb> && ForkableHeap<Slqb>);
static_assert(ConcurrentHeap<slqb::Split> && TrimmableHeap<slqb::Split>);

} // namespace heapwright::allocators
