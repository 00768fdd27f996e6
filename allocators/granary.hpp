// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Granary: Hoard's memory, whose bound is proven, behind a cache for each thread that keeps only
// what is at home with it. Superblocks of 32 KiB, found by masking the address, start in constant
// time and are touched page by page; a heap gives those away of which it uses too little.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace granary {
struct Name {};
using Classes = LinearSlots<512, 4 * KiB, 16 * KiB>; // 16 apart, then 8 and 4 a doubling
using Rule = Emptiness<1, 4, 1>;                     // f = 1/4, K = 1
using Limits = CacheLimits<2 * KiB, 32, 512, 8, 32, 64 * KiB>;
using Blocks = AlignedBlockHeap<32 * KiB, 4 * MiB, MmapHeap>; // superblocks to be
using Small = HoardHeap<Classes, OwnHeap<2047>, Rule, CleanLines, Blocks>;
using Large = CheckedHeap<MmapHeap>; // a mapping for each
using Shared = UniqueHeap<Name, SplitHeap<16 * KiB, Small, Large>>;
using Cached = HomeCacheHeap<Classes, Limits, PlainLinks, Shared>; // each thread's own
using SignalSafe = HandlerSafeHeap<Cached>;                        // a handler may interrupt
} // namespace granary

using Granary = ANSIWrapper<granary::SignalSafe>; // the C rules

static_assert(SizedHeap<Granary> && AlignedHeap<Granary> && ForkableHeap<Granary>);
static_assert(ConcurrentHeap<granary::Cached> && TrimmableHeap<granary::Cached>);

} // namespace heapwright::allocators
