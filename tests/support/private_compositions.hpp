// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Two complete allocators of private heaps, for the tests that share a heap between threads. They
// are pure private heaps over one source, and heaps with ownership, each with a source of its own.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::testing {

namespace pure_private {
using Chunks = ChunkHeap<1 * MiB, 8, MmapHeap>;
using Objects = SizeHeap<Chunks>;
using Shared = LockedHeap<FutexLock, Objects>;
using Source = UniqueHeap<struct PurePrivateSource, Shared>; // outlives and serves all heaps
using Lists = StrictSegHeap<PowerOfTwo<29>, FreelistHeap<NullHeap>, Source>;
using Checked = CheckedHeap<Lists>;
using Aligned = AlignHeap<Checked>;
using Private = LockedHeap<FutexLock, Aligned>; // for threads that share a heap
using Threads = ThreadHeap<3, Private>;
using SignalSafe = SignalSafeHeap<Threads>;
} // namespace pure_private

using PurePrivate = ANSIWrapper<pure_private::SignalSafe>;

namespace private_ownership {
using Objects = CoalesceableHeap<MmapHeap>;
using Blocks = CoalesceHeap<128 * KiB, Objects>;
using Lists = StrictSegHeap<Exact<4>, FreelistHeap<NullHeap>, Blocks>;
using Selected = SelectMmapHeap<FixedLimit<128 * KiB>, MmapHeap, Lists>;
using Checked = CheckedHeap<Selected>;
using Private = LockedHeap<FutexLock, Checked>; // for threads that free each other's objects
using Threads = PHOThreadHeap<3, Private>;
using SignalSafe = SignalSafeHeap<Threads>;
} // namespace private_ownership

using PrivateOwnership = ANSIWrapper<private_ownership::SignalSafe>;

static_assert(ForkableHeap<PurePrivate> && ForkableHeap<PrivateOwnership>);
static_assert(ConcurrentHeap<pure_private::Threads> && ConcurrentHeap<private_ownership::Threads>);

} // namespace heapwright::testing
