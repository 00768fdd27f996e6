// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After LKmalloc (Larson and Krishnan 1998): regions of memory that belong to a processor for good.
// A thread allocates in those of the heap that it is assigned to, and what it frees returns to the
// region where it lies, whoever has that. So no two heaps share a cache line; but what one of them
// has, empty or not, serves no other.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace lkmalloc {
using Regions = AlignedBlockHeap<64 * KiB, 4 * MiB, MmapHeap>; // what a heap takes at once
using Classes = GeometricSlots<6, 5, 16, 32 * KiB>;            // objects of one size in each
using Assigned = PerProcessor<128>;                            // two heaps for each processor
using Rule = Never;                                            // no region changes hands
using Small = HoardHeap<Classes, Assigned, Rule, AnyLines, Regions>;
using Large = CheckedHeap<MmapHeap>;             // a mapping for each
using Split = SplitHeap<32 * KiB, Small, Large>; // large ones apart
using SignalSafe = SignalSafeHeap<Split>;        // a handler may interrupt
} // namespace lkmalloc

using Lkmalloc = ANSIWrapper<lkmalloc::SignalSafe>; // the C rules

static_assert(SizedHeap<Lkmalloc> && AlignedHeap<Lkmalloc> && ForkableHeap<Lkmalloc>);
static_assert(ConcurrentHeap<lkmalloc::Split> && TrimmableHeap<lkmalloc::Split>);

} // namespace heapwright::allocators
