// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After nedmalloc 1.10: up to four of Doug Lea's heaps of version 2.8, each with a lock. A thread
// uses the heap that it used last. If another thread holds its lock, the thread takes the first
// heap that is free, or begins one more. In front of them, each thread has a cache of freed objects
// of up to 8 KiB. The cache has a size class for each power of two. When it holds 1 MiB, the
// objects that were freed longest ago return to their heaps.
//
// docs/reference/stand-ins.md lists the rules of the original and the differences.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace nedmalloc {
using Region = ReserveHeap<16 * MiB>;                    // the memory of a heap
using Objects = CoalesceableHeap<Region>;                // each object knows its neighbours
using Fit = ExactFit<14, SizeTries>;                     // lists below 256 bytes, tries above
using Blocks = SequentialFitHeap<Fit, 1 * MiB, Objects>; // split and merged, best fit
using Checked = CheckedHeap<Blocks>;                     // a wrong free ends the program
using Space = LockedHeap<FutexLock, Checked>;            // one thread at a time
using Pool = ArenaHeap<FirstFree<4>, Space>;             // the last one, or one that is free
using Large = CheckedHeap<MmapHeap>;                     // pages for one object
using Limit = FixedLimit<256 * KiB>;                     // larger requests are mapped
using Selected = SelectMmapHeap<Limit, Large, Pool>;     // large objects get their own mapping
using Powers = GeometricSlots<2, 1, 32, 8 * KiB + 16>;   // 32, 64, 128, ...
using Classes = UpTo<8 * KiB, Powers>;                   // ... 8,192
using Cached = ThreadCacheHeap<Classes, 1 * MiB, Ages<128>, 256, Selected>; // for each thread
using SignalSafe = SignalSafeHeap<Cached>; // a handler may interrupt
} // namespace nedmalloc

using Nedmalloc = ANSIWrapper<nedmalloc::SignalSafe>; // the C rules

static_assert(SizedHeap<Nedmalloc> && AlignedHeap<Nedmalloc> && ForkableHeap<Nedmalloc>);
static_assert(ConcurrentHeap<nedmalloc::Cached> && RelocatingHeap<nedmalloc::Cached>);
static_assert(CheckingHeap<nedmalloc::Selected>);

} // namespace heapwright::allocators
