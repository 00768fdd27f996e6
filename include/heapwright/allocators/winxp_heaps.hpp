// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Many heaps in the manner of Windows XP. A program creates any number of them. Objects can be
// freed one by one, and a heap returns all its memory when it ends. Heaps cannot be nested.
// winxp.hpp has one such heap as a program's malloc. These heaps grow by 64 KiB, the unit in which
// that system reserves addresses.
//
// Cost: that of winxp.hpp. A heap has no lock, so it is for one thread at a time. Its lists take
// about 2 KiB.
#pragma once

#include <heapwright/allocators/winxp.hpp>
#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace winxp_heaps {
template <MaxAlignedHeap Source>
using Objects = CoalesceableHeap<SizeHeap<Source>>; // each object knows its neighbours
template <MaxAlignedHeap Source>
using Blocks = SequentialFitHeap<winxp::Fit, 64 * KiB, Objects<Source>>;
} // namespace winxp_heaps

/// One of many heaps, whose memory comes from the source.
template <MaxAlignedHeap Source>
using WinXpHeap = StrictSegHeap<winxp::QuickClasses, winxp::PerClass, winxp_heaps::Blocks<Source>>;

static_assert(SizedHeap<WinXpHeap<MallocHeap>> && ClearableHeap<WinXpHeap<MallocHeap>>);

} // namespace heapwright::allocators
