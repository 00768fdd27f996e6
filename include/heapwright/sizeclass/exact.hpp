// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Exact size classes: one for each multiple of 16, from the smallest block that can be split and
// merged. Class i holds blocks of 32 + 16 i bytes. The tag takes 8 of them.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/sizeclass/waste.hpp>

#include <cstddef>

namespace heapwright {

template <std::size_t Count>
struct Exact {
    static constexpr std::size_t count = Count;

    /// The usable size of a class's objects.
    [[nodiscard]] static constexpr std::size_t sizeOf(std::size_t index) noexcept {
        return (index + smallest) * minAlignment - tag;
    }

    /// The first class whose objects hold `request` bytes; `count` or more if none does.
    [[nodiscard]] static constexpr std::size_t classFor(std::size_t request) noexcept {
        const std::size_t least = request < sizeOf(0) ? sizeOf(0) : request;
        return (least + tag - 1) / minAlignment + 1 - smallest;
    }

    /// The class of objects of this capacity. `count` or more if no class has it.
    /// Pre: `capacity` is not below the smallest class.
    [[nodiscard]] static constexpr std::size_t classOf(std::size_t capacity) noexcept {
        return (capacity + tag) / minAlignment - smallest;
    }

private:
    static constexpr std::size_t tag = 8;
    static constexpr std::size_t smallest = 2;

    static_assert(Count >= 1);
};

static_assert(worstCaseWaste<Exact<127>>(24).isAtMost(1, 3), "less than 16 bytes of at least 48");

} // namespace heapwright
