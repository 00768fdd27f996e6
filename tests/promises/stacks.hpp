// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What is held to the bound: the heap of superblocks by itself, with the rules of its kind, and
// what of granary stands on it.
#pragma once

#include <heapwright/heap.hpp>

#include <gtest/gtest.h>

#include <cstddef>

namespace heapwright::testing::promises {

template <class R, class Lines>
struct HoardStack {
    static constexpr std::size_t blockSize = 32 * KiB;
    using Classes = GeometricSlots<6, 5, 16, 16 * KiB>;
    using Rule = R;
    using Heap = HoardHeap<Classes, OwnHeap<64>, Rule, Lines,
                           AlignedBlockHeap<blockSize, 1 * MiB, MmapHeap>>;
    static constexpr bool clean = Lines::clean;

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

using Bounded = ::testing::Types<HoardStack<Emptiness<1, 4, 4>, CleanLines>,
                                 HoardStack<Emptiness<1, 4, 4>, AnyLines>,
                                 HoardStack<Emptiness<1, 2, 1>, CleanLines>>;

/// Those that promise clean lines.
using CleanOnes = ::testing::Types<HoardStack<Emptiness<1, 4, 4>, CleanLines>,
                                   HoardStack<Emptiness<1, 2, 1>, CleanLines>>;

} // namespace heapwright::testing::promises
