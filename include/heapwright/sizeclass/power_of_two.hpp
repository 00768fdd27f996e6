// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Size classes whose blocks are powers of two. Class i holds blocks of 2^(i+4) bytes. The tag takes
// 8 of them.
// Cost: one bit scan to find a class.
// Source: Kingsley's allocator.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/sizeclass/waste.hpp>

#include <cstddef>

namespace heapwright {

template <std::size_t Count>
struct PowerOfTwo {
    static constexpr std::size_t count = Count;

    /// The usable size of a class's objects.
    [[nodiscard]] static constexpr std::size_t sizeOf(std::size_t index) noexcept {
        return ((std::size_t{1} << smallest) << index) - tag;
    }

    /// The first class whose objects hold `request` bytes; `count` or more if none does.
    /// Pre: `request` is not 0.
    [[nodiscard]] static constexpr std::size_t classFor(std::size_t request) noexcept {
        return floorLog2(request + tag - 1) + 1 - smallest;
    }

    /// The last class whose objects are at most `capacity`. `count` or more if `capacity` is larger
    /// than every class.
    [[nodiscard]] static constexpr std::size_t classOf(std::size_t capacity) noexcept {
        return floorLog2(capacity + tag) - smallest;
    }

private:
    static constexpr std::size_t tag = 8;
    static constexpr std::size_t smallest = 4;

    static_assert(Count >= 1 && Count + smallest < 64);
};

static_assert(worstCaseWaste<PowerOfTwo<29>>().isAtMost(1, 2));

} // namespace heapwright
