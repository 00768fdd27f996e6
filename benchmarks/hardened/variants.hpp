// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The steps from granary to granary-hardened, with one more layer each. The cost of a layer is the
// difference between two of them (docs/reference/granary-hardened.md).
#pragma once

#include <heapwright/allocators/granary_hardened.hpp>

#include <cstddef>

namespace heapwright::benchmarks::hardened {

namespace g = allocators::granary;
namespace h = allocators::granary_hardened;

template <int Number>
struct Name {};

/// Granary's cache over memory of its own.
template <class Links, int Number>
using Plain = OwnerCacheHeap<g::Classes, g::limits, Links,
                             UniqueHeap<Name<Number>, SplitHeap<16 * KiB, g::Small, g::Large>>>;

// Closed gaps behind each run; freed runs do not wait.
using Gaps = GuardGapHeap<32 * KiB, 0, 16384, FutexLock, g::Source>;
using Extents = UniqueHeap<Name<3>, Gaps>;
using Small = HoardHeap<g::Classes, g::Assigned, g::Rule, CleanLines, Extents>;
using Large = UnitObjectHeap<32 * KiB, Extents>;
using Split = UniqueHeap<Name<4>, SplitHeap<16 * KiB, Small, Large>>;
using Gapped = OwnerCacheHeap<g::Classes, g::limits, EncodedFreelist, Split>;

using WithFlag = ANSIWrapper<SignalSafeHeap<Plain<PlainFreelist, 1>>>;
using WithLinks = ANSIWrapper<SignalSafeHeap<Plain<EncodedFreelist, 2>>>;
using WithGaps = ANSIWrapper<SignalSafeHeap<Gapped>>;
using WithClosedRuns = ANSIWrapper<SignalSafeHeap<h::Cached>>;
using WithQuarantine = ANSIWrapper<h::SignalSafe>;
using WithCanaries = ANSIWrapper<h::Guarded>;
using WithZeros = ANSIWrapper<h::Zeroed>;
using WithEmpty = ANSIWrapper<h::Empty>;
using WithMap = ANSIWrapper<h::Known>; // granary-hardened

} // namespace heapwright::benchmarks::hardened
