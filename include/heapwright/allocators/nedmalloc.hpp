// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After nedmalloc: Doug Lea's allocator behind one lock, as it is from version 2.8 on, without
// quicklists; before it, for each thread, a cache of freed objects of up to 8 KiB, by two size
// classes to each doubling. So the lock is taken once for many small objects. A cached object is
// not merged, and what one thread's cache holds serves no other.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace nedmalloc {
using Objects = CoalesceableHeap<SbrkHeap>;               // each object knows its neighbours
using Blocks = CoalesceHeap<128 * KiB, Objects>;          // split and merged, best fit
using Limit = FixedLimit<256 * KiB>;                      // from here on large
using Selected = SelectMmapHeap<Limit, MmapHeap, Blocks>; // large objects get their own mapping
using Checked = CheckedHeap<Selected>;                    // a wrong free ends the program
using Locked = LockedHeap<FutexLock, Checked>;            // one thread at a time
using Classes = AtLeast<24, PerDoubling<2, 19>>;          // 24 to 8,184 bytes
using Cached = ThreadCacheHeap<Classes, 512 * KiB, 16, 1024, Locked>; // each thread's own
using SignalSafe = SignalSafeHeap<Cached>;                            // a handler may interrupt
} // namespace nedmalloc

using Nedmalloc = ANSIWrapper<nedmalloc::SignalSafe>; // the C rules

static_assert(SizedHeap<Nedmalloc> && AlignedHeap<Nedmalloc> && ForkableHeap<Nedmalloc>);
static_assert(RelocatingHeap<nedmalloc::Cached> && TrimmableHeap<nedmalloc::Cached>);

} // namespace heapwright::allocators
