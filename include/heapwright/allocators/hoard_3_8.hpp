// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After version 3.8 of Hoard (2009). Superblocks have 64 KiB, for objects of up to half of that.
// Threads are assigned to 128 heaps in turn, and there is a global heap. A heap gives superblocks
// of a class to the global heap when it uses less than 7/8 of what it has of the class. It keeps up
// to 2 superblocks' worth of free slots. Each thread also has a buffer of 256 KiB of freed objects
// of up to 256 bytes, which needs no lock. Single objects enter and leave the buffer.
//
// docs/reference/stand-ins.md lists the rules of the original and the differences.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace hoard_3_8 {
using Blocks = AlignedBlockHeap<64 * KiB, 4 * MiB, MmapHeap>; // the memory of superblocks
using Classes = GeometricSlots<6, 5, 16, 32 * KiB>;           // b = 1.2, up to S/2
using Assigned = ByThread<128>;                               // threads in turn
using Rule = Emptiness<1, 8, 2>;                              // f = 1/8, K = 2
using Shared = HoardHeap<Classes, Assigned, Rule, AnyLines, Blocks>;
using Buffered = UpTo<256, Classes>;
using Small = ThreadCacheHeap<Buffered, 256 * KiB, Singles, 2048, Shared>; // for each thread
using Large = CheckedHeap<MmapHeap>;                                       // a mapping for each
using Split = SplitHeap<32 * KiB, Small, Large>;                           // large objects apart
using SignalSafe = SignalSafeHeap<Split>; // a handler may interrupt
} // namespace hoard_3_8

using Hoard38 = ANSIWrapper<hoard_3_8::SignalSafe>; // the C rules

static_assert(SizedHeap<Hoard38> && AlignedHeap<Hoard38> && ForkableHeap<Hoard38>);
static_assert(ConcurrentHeap<hoard_3_8::Split> && TrimmableHeap<hoard_3_8::Split>);

} // namespace heapwright::allocators
