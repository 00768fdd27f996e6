// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After the kernel's SLOB for small machines (Mackall 2005; removed after 6.3). Blocks of any size
// are allocated by first fit, in pages on three lists, behind one lock. Pages come from buddies as
// in the kernel. A request for more than 1,024 pages has a mapping of its own.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace slob {
using Pages = KernelPageHeap<1, 16 * MiB, FutexLock, MmapHeap>; // buddies, grouped by mobility
using Objects = SlobHeap<FutexLock, Pages>;                     // first fit in shared pages
using Large = CheckedHeap<MmapHeap>;                            // a mapping for each
using Split = SplitHeap<4 * MiB, Objects, Large>;               // large objects apart
using SignalSafe = SignalSafeHeap<Split>;                       // a handler may interrupt
using Known = LiveMapHeap<SignalSafe>;                          // a wrong free ends the program
} // namespace slob

using Slob = ANSIWrapper<slob::Known>; // the C rules

static_assert(SizedHeap<Slob> && AlignedHeap<Slob> && ForkableHeap<Slob>);
static_assert(ConcurrentHeap<slob::Split> && TrimmableHeap<slob::Split>);

} // namespace heapwright::allocators
