// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of granary's cache share.
#pragma once

#include <heapwright/heap.hpp>

namespace heapwright::testing {

using Classes = LinearSlots<512, 512, 2 * KiB>;
constexpr auto limits = CacheLimits{.perClassBytes = 1 * KiB,
                                    .perClassObjects = 16,
                                    .refillBytes = 512,
                                    .batchObjects = 8,
                                    .remoteObjects = 8,
                                    .remoteBytes = 4 * KiB};
using Rule = Verified<Emptiness<1, 4, 1>>;

/// A heap of its own for each name, so that each test has one.
template <class Name, class Selector = OwnHeap<64>, class Lines = CleanLines>
struct Stack {
    using Blocks = AlignedBlockHeap<16 * KiB, 1 * MiB, MmapHeap>;
    using Small = HoardHeap<Classes, Selector, Rule, Lines, Blocks>;
    using Shared = UniqueHeap<Name, SplitHeap<2 * KiB, Small, CheckedHeap<MmapHeap>>>;
    using Small1 = UniqueHeap<Name, Small>;
    using Cached = OwnerCacheHeap<Classes, limits, PlainFreelist, Shared>;
    using CachedSmall = OwnerCacheHeap<Classes, limits, PlainFreelist, Small1>;
    using Coarse = OwnerCacheHeap<Classes, limits.withCoarseRefills(3), PlainFreelist, Small1>;
};

} // namespace heapwright::testing
