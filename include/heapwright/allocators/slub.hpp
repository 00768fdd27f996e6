// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After the kernel's SLUB, its present allocator (Lameter 2007): slabs without metadata. Each
// processor has an active slab. Only slabs with free objects are on a list. Each node keeps a few
// empty slabs and returns the others. Pages come from buddies as in the kernel. A request for more
// than 1,024 pages has a mapping of its own.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace slub {
using Pages = KernelPageHeap<1, 16 * MiB, FutexLock, MmapHeap>; // buddies, grouped by mobility
using Objects = SlubHeap<RealProcessors<16>, FutexLock, Pages>; // an active slab for each processor
using Large = CheckedHeap<MmapHeap>;                            // a mapping for each
using Split = SplitHeap<4 * MiB, Objects, Large>;               // large objects apart
using SignalSafe = SignalSafeHeap<Split>;                       // a handler may interrupt
using Known = LiveMapHeap<SignalSafe>;                          // a wrong free ends the program
} // namespace slub

using Slub = ANSIWrapper<slub::Known>; // the C rules

static_assert(SizedHeap<Slub> && AlignedHeap<Slub> && ForkableHeap<Slub>);
static_assert(ConcurrentHeap<slub::Split> && TrimmableHeap<slub::Split>);

} // namespace heapwright::allocators
