// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After the kernel's SLUB, its allocator of today: slabs without metadata, of which each processor
// has an active one; only those with room are on a list, empty ones go back (Lameter 2007). Over
// pages in buddies as the kernel has them. What is larger than 1,024 pages has a mapping of its
// own.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace slub {
using Pages = KernelPageHeap<1, 16 * MiB, FutexLock, MmapHeap>; // buddies, apart by mobility
using Objects = SlubHeap<RealProcessors<16>, FutexLock, Pages>; // an active slab for each processor
using Large = CheckedHeap<MmapHeap>;                            // a mapping for each
using Split = SplitHeap<4 * MiB, Objects, Large>;               // large ones apart
using SignalSafe = SignalSafeHeap<Split>;                       // a handler may interrupt
using Known = LiveMapHeap<SignalSafe>;                          // a wrong free ends the program
} // namespace slub

using Slub = ANSIWrapper<slub::Known>; // the C rules

static_assert(SizedHeap<Slub> && AlignedHeap<Slub> && ForkableHeap<Slub>);
static_assert(ConcurrentHeap<slub::Split> && TrimmableHeap<slub::Split>);

} // namespace heapwright::allocators
