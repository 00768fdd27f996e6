// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// After nedmalloc: Doug Lea's allocator behind one lock, without quicklists as in version 2.8. In
// front of it, each thread has a cache of freed objects of up to 8 KiB, with two size classes per
// doubling. The lock is thus taken once for many small objects. A cached object is not merged, and
// serves only its thread.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace nedmalloc {
using Objects = CoalesceableHeap<SbrkHeap>;               // each object knows its neighbours
using Blocks = CoalesceHeap<128 * KiB, Objects>;          // split and merged, best fit
using Limit = FixedLimit<256 * KiB>;                      // larger requests are mapped
using Selected = SelectMmapHeap<Limit, MmapHeap, Blocks>; // large objects get their own mapping
using Checked = CheckedHeap<Selected>;                    // a wrong free ends the program
using Locked = LockedHeap<FutexLock, Checked>;            // one thread at a time
using Classes = AtLeast<24, PerDoubling<2, 19>>;          // 24 to 8,184 bytes
using Cached = ThreadCacheHeap<Classes, 512 * KiB, 16, 1024, Locked>; // a cache for each thread
using SignalSafe = SignalSafeHeap<Cached>;                            // a handler may interrupt
} // namespace nedmalloc

using Nedmalloc = ANSIWrapper<nedmalloc::SignalSafe>; // the C rules

static_assert(SizedHeap<Nedmalloc> && AlignedHeap<Nedmalloc> && ForkableHeap<Nedmalloc>);
static_assert(RelocatingHeap<nedmalloc::Cached> && TrimmableHeap<nedmalloc::Cached>);

} // namespace heapwright::allocators
