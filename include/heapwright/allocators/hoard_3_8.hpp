// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After version 3.8 of Hoard (2009). Superblocks have 64 KiB, for objects of up to half of that. As
// in `hoard`, there are two heaps for each processor and a global one. Each thread also has a
// buffer of 256 KiB of small freed objects, which needs no lock.
//
// Differences from the original: the buffer is filled and emptied in batches, not one object at a
// time. It takes objects of up to 1,184 bytes, not 256. The original is from a time when the C
// library had no thread cache. Today's takes objects of up to 1,032 bytes.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace hoard_3_8 {
using Blocks = AlignedBlockHeap<64 * KiB, 4 * MiB, MmapHeap>; // the memory of superblocks
using Classes = GeometricSlots<6, 5, 16, 32 * KiB>;           // b = 1.2, up to S/2
using Assigned = PerProcessor<128>;                           // 2 P heaps
using Rule = Emptiness<1, 4, 4>;                              // f = 1/4, K = 4
using Shared = HoardHeap<Classes, Assigned, Rule, AnyLines, Blocks>;
using Buffered = UpTo<1184, Classes>;
using Small = ThreadCacheHeap<Buffered, 256 * KiB, 32, 2048, Shared>; // a buffer for each thread
using Large = CheckedHeap<MmapHeap>;                                  // a mapping for each
using Split = SplitHeap<32 * KiB, Small, Large>;                      // large objects apart
using SignalSafe = SignalSafeHeap<Split>;                             // a handler may interrupt
} // namespace hoard_3_8

using Hoard38 = ANSIWrapper<hoard_3_8::SignalSafe>; // the C rules

static_assert(SizedHeap<Hoard38> && AlignedHeap<Hoard38> && ForkableHeap<Hoard38>);
static_assert(ConcurrentHeap<hoard_3_8::Split> && TrimmableHeap<hoard_3_8::Split>);

} // namespace heapwright::allocators
