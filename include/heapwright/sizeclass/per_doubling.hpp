// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Size classes that divide each doubling into equal steps. Blocks are 16, 32, 48 … up to 16 times
// `Steps`. Above, each doubling has `Steps` classes. The tag takes 8 bytes of each block.
//
// The waste is below 1/(Steps + 1) of the block for blocks beyond 16 times `Steps`. Below, the
// granularity of 16 bytes decides.
// Cost: one bit scan and two shifts to find a class, without a table.
// Source: with four steps, the classes of jemalloc.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/sizeclass/size_classes.hpp>
#include <heapwright/sizeclass/waste.hpp>

#include <bit>
#include <cstddef>

namespace heapwright {

template <std::size_t Steps, std::size_t Count>
struct PerDoubling {
    static constexpr std::size_t count = Count;

    /// The usable size of a class's objects. Has no branch, so that the compiler can move the
    /// computation to the paths that need it.
    [[nodiscard]] static constexpr std::size_t sizeOf(std::size_t index) noexcept {
        const std::size_t quotient = index / Steps;
        const std::size_t doubling = quotient - (quotient != 0 ? 1U : 0U);
        return ((index - doubling * Steps + 1) << doubling) * minAlignment - blockTag;
    }

    /// The first class whose objects hold `request` bytes; `count` or more if none does.
    /// Pre: `request` is not 0.
    [[nodiscard]] static constexpr std::size_t classFor(std::size_t request) noexcept {
        const std::size_t below = blockUnitsFor(request) - 1;
        if (below < Steps) {
            return below;
        }
        const std::size_t doubling = floorLog2(below) - logSteps;
        return doubling * Steps + (below >> doubling);
    }

    /// The last class whose objects are at most `capacity`. `count` or more if `capacity` is below
    /// the smallest class, or so large that it belongs to a class beyond the largest.
    [[nodiscard]] static constexpr std::size_t classOf(std::size_t capacity) noexcept {
        const std::size_t units = (capacity + blockTag) / minAlignment;
        if (units < Steps) {
            return units - 1;
        }
        const std::size_t doubling = floorLog2(units) - logSteps;
        return doubling * Steps + (units >> doubling) - 1;
    }

private:
    static constexpr std::size_t logSteps = floorLog2(Steps);

    static_assert(std::has_single_bit(Steps), "the steps of a doubling are a power of two");
    static_assert(Count >= 1 && Count / Steps + logSteps < 42);
};

/// jemalloc's classes: a request above 64 bytes wastes less than a fifth of its block.
template <std::size_t Count>
struct FourPerDoubling : PerDoubling<4, Count> {};

static_assert(worstCaseWaste<FourPerDoubling<100>>(64).isAtMost(1, 5));
static_assert(worstCaseWaste<FourPerDoubling<100>>().isAtMost(1, 2));
static_assert(worstCaseWaste<PerDoubling<1, 30>>().isAtMost(1, 2), "powers of two");
static_assert(worstCaseWaste<PerDoubling<2, 60>>(32).isAtMost(1, 3));
static_assert(worstCaseWaste<PerDoubling<8, 200>>(128).isAtMost(1, 9));

} // namespace heapwright
