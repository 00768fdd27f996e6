// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What is held to the bound: the heap of superblocks by itself, with the rules of its kind, and
// what of granary stands on it.
#pragma once

#include <heapwright/allocators/granary.hpp>
#include <heapwright/heap.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heapwright::testing::promises {

template <class R, class Lines>
struct HoardStack {
    static constexpr std::size_t blockSize = 32 * KiB;
    using Classes = GeometricSlots<6, 5, 16, 16 * KiB>;
    using Rule = R;
    using Heap = HoardHeap<Classes, OwnHeap<64>, Rule, Lines,
                           AlignedBlockHeap<blockSize, 1 * MiB, MmapHeap>>;
    static constexpr bool clean = Lines::clean;
    static constexpr bool forgetsEnded = Lines::forgetsEnded;

    [[nodiscard]] static std::size_t count(std::size_t sizeClass) {
        return Superblock<blockSize, Lines>::layoutFor(Classes::sizeOf(sizeClass)).count;
    }
    [[nodiscard]] static std::size_t cached(std::size_t /*sizeClass*/) { return 0; }
    [[nodiscard]] static auto figures(Heap& heap, std::size_t sizeClass) {
        return heap.figuresOf(sizeClass);
    }
};

/// A heap that gives nothing back, held to a bound that is another's.
struct KeepsAll : Emptiness<1, 4, 4> {
    [[nodiscard]] static constexpr std::size_t least(std::size_t /*held*/,
                                                     std::size_t /*each*/) noexcept {
        return 0;
    }
};

/// Granary's caches on granary's heap, with nothing between them, so that a test can read what the
/// heap holds. There is one of each type: a history begins with what is left when all was freed.
template <class R, class Lines, class Selector>
struct GranaryStack {
    struct Name {};
    static constexpr std::size_t blockSize = allocators::granary::Shared::unitBytes;
    using Classes = allocators::granary::Classes;
    static constexpr CacheLimits limits = allocators::granary::limits;
    using Rule = R;
    using Small =
        HoardHeap<Classes, Selector, Rule, Lines, AlignedBlockHeap<blockSize, 4 * MiB, MmapHeap>>;
    using Heap = OwnerCacheHeap<Classes, limits, PlainFreelist, UniqueHeap<Name, Small>>;
    static constexpr bool clean = Lines::clean;
    static constexpr bool forgetsEnded = Lines::forgetsEnded;

    [[nodiscard]] static std::size_t count(std::size_t sizeClass) {
        return Superblock<blockSize, Lines>::layoutFor(Classes::sizeOf(sizeClass)).count;
    }
    /// Its list, the chain of objects of other threads, the objects that others have sent, and
    /// those that it has collected. All of them may be of one class.
    [[nodiscard]] static std::size_t cached(std::size_t sizeClass) {
        const std::size_t size = Classes::sizeOf(sizeClass);
        const std::size_t remote =
            std::min(limits.remoteObjects, (limits.remoteBytes + size - 1) / size) - 1;
        return limits.roomFor(size) + remote + 2 * (Small::mostSentBytes / size);
    }
    [[nodiscard]] static auto figures(Heap& /*heap*/, std::size_t sizeClass) {
        return UniqueHeap<Name, Small>::theHeap().figuresOf(sizeClass);
    }
};

using Granary = GranaryStack<allocators::granary::Rule, CleanRunningLines, OwnHeap<64>>;
using GranaryStrict = GranaryStack<allocators::granary::Rule, CleanLines, OwnHeap<64>>;
/// Most threads share a heap, for ever or for their first requests.
using Sharing = EarnedHeap<64, 2, UINT32_MAX, UINT32_MAX>;
using Earning = EarnedHeap<64, 2, 300, 300>;
using GranaryShared = GranaryStack<allocators::granary::Rule, CleanRunningLines, Sharing>;
using GranaryEarned = GranaryStack<allocators::granary::Rule, CleanRunningLines, Earning>;
using GranaryStrictEarned = GranaryStack<allocators::granary::Rule, CleanLines, Earning>;

using Bounded = ::testing::Types<Granary, GranaryStrict, HoardStack<Emptiness<1, 4, 4>, CleanLines>,
                                 HoardStack<Emptiness<1, 4, 4>, AnyLines>,
                                 HoardStack<Emptiness<1, 4, 4>, CleanRunningLines>,
                                 HoardStack<Emptiness<1, 2, 1>, CleanLines>>;

/// Those that promise clean lines, to running threads or to all.
using CleanOnes = ::testing::Types<Granary, GranaryStrict, GranaryShared, GranaryEarned,
                                   GranaryStrictEarned, HoardStack<Emptiness<1, 4, 4>, CleanLines>,
                                   HoardStack<Emptiness<1, 4, 4>, CleanRunningLines>,
                                   HoardStack<Emptiness<1, 2, 1>, CleanLines>>;
/// The same without.
using UncleanOnes = ::testing::Types<HoardStack<Emptiness<1, 4, 4>, AnyLines>>;

} // namespace heapwright::testing::promises
