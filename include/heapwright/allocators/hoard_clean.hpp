// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Hoard with the mechanism against false sharing that the thesis of 2002 describes and does not
// build. Each running thread has a heap of its own. A superblock that has moved uses no free slot
// that shares a cache line with an older live object. The other layers are those of hoard.hpp.
//
// With 128 threads or more, the others share one heap and so cache lines.
#pragma once

#include <heapwright/allocators/hoard.hpp>

namespace heapwright::allocators {

namespace hoard_clean {
using Assigned = OwnHeap<128>; // a heap for each thread
using Small = HoardHeap<hoard::Classes, Assigned, hoard::Rule, CleanLines, hoard::Blocks>;
using Split = SplitHeap<4 * KiB, Small, hoard::Large>; // large objects apart
using SignalSafe = SignalSafeHeap<Split>;              // a handler may interrupt
} // namespace hoard_clean

using HoardClean = ANSIWrapper<hoard_clean::SignalSafe>; // the C rules

static_assert(SizedHeap<HoardClean> && AlignedHeap<HoardClean> && ForkableHeap<HoardClean>);
static_assert(ConcurrentHeap<hoard_clean::Split> && TrimmableHeap<hoard_clean::Split>);

} // namespace heapwright::allocators
