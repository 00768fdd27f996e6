// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After LKmalloc (Larson and Krishnan 1998): regions of memory belong to one heap for ever. A
// thread allocates in the regions of the heap that it is assigned to. A freed object returns to its
// region, whichever heap owns that. Thus no two heaps share a cache line, but free memory of one
// heap never serves another.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace lkmalloc {
using Regions = AlignedBlockHeap<64 * KiB, 4 * MiB, MmapHeap>; // memory that a heap takes at once
using Classes = GeometricSlots<6, 5, 16, 32 * KiB>;            // objects of one size in each
using Assigned = PerProcessor<128>;                            // two heaps for each processor
using Rule = Never;                                            // a region never changes its heap
using Small = HoardHeap<Classes, Assigned, Rule, AnyLines, Regions>;
using Large = CheckedHeap<MmapHeap>;             // a mapping for each
using Split = SplitHeap<32 * KiB, Small, Large>; // large objects apart
using SignalSafe = SignalSafeHeap<Split>;        // a handler may interrupt
} // namespace lkmalloc

using Lkmalloc = ANSIWrapper<lkmalloc::SignalSafe>; // the C rules

static_assert(SizedHeap<Lkmalloc> && AlignedHeap<Lkmalloc> && ForkableHeap<Lkmalloc>);
static_assert(ConcurrentHeap<lkmalloc::Split> && TrimmableHeap<lkmalloc::Split>);

} // namespace heapwright::allocators
