// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After the kernel's SLAB (Bonwick 1994; the default until 2007, removed after 6.7): a cache of
// equal objects for each size. Each processor has an array of free objects in front of full,
// partial and free slabs. Pages come from buddies as in the kernel. A request for more than 1,024
// pages has a mapping of its own.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace slab {
using Pages = KernelPageHeap<1, 16 * MiB, FutexLock, MmapHeap>; // buddies, grouped by mobility
using Objects = SlabHeap<RealProcessors<16>, FutexLock,
                         Pages>;     // an array of free objects for each processor, then slabs
using Large = CheckedHeap<MmapHeap>; // a mapping for each
using Split = SplitHeap<4 * MiB, Objects, Large>; // large objects apart
using SignalSafe = SignalSafeHeap<Split>;         // a handler may interrupt
using Known = LiveMapHeap<SignalSafe>;            // a wrong free ends the program
} // namespace slab

using Slab = ANSIWrapper<slab::Known>; // the C rules

static_assert(SizedHeap<Slab> && AlignedHeap<Slab> && ForkableHeap<Slab>);
static_assert(ConcurrentHeap<slab::Split> && TrimmableHeap<slab::Split>);

} // namespace heapwright::allocators
