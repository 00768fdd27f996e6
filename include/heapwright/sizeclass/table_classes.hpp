// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Size classes from any ascending table of block sizes, `Table::blocks`. The class of a request of
// up to 2 KiB is found by one load from a table built at compile time. The search for a larger
// request starts at the first class of its doubling, and visits at most the classes of one
// doubling.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/sizeclass/size_classes.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace heapwright {

template <class Table>
struct TableClasses {
    static constexpr std::size_t count = Table::blocks.size();

    /// The usable size of a class's objects.
    [[nodiscard]] static constexpr std::size_t sizeOf(std::size_t index) noexcept {
        return Table::blocks[index] - blockTag;
    }

    /// The first class whose objects hold `request` bytes; `count` if none does.
    /// Pre: `request` is not 0.
    [[nodiscard]] static constexpr std::size_t classFor(std::size_t request) noexcept {
        return firstFor(blockUnitsFor(request));
    }

    /// The last class whose objects are at most `capacity`. `count` or more if `capacity` is below
    /// the smallest class or above the largest.
    [[nodiscard]] static constexpr std::size_t classOf(std::size_t capacity) noexcept {
        const std::size_t units = (capacity + blockTag) / minAlignment;
        const std::size_t index = firstFor(units);
        return index == count || unitsOf(index) == units ? index : index - 1;
    }

private:
    static constexpr std::size_t unitsOf(std::size_t index) noexcept {
        return Table::blocks[index] / minAlignment;
    }

    static constexpr bool isAscending() noexcept {
        std::size_t before = 0;
        for (const std::size_t block : Table::blocks) {
            if (block <= before || block % minAlignment != 0 || block > largest) {
                return false;
            }
            before = block;
        }
        return true;
    }

    static constexpr std::size_t largest = std::size_t{1} << 46U;
    static constexpr std::size_t byTable = 2 * KiB / minAlignment;
    static constexpr std::size_t doublings = 48;

    static_assert(count >= 1 && count < UINT16_MAX);
    static_assert(isAscending(), "blocks are multiples of 16, each larger than the one before");

    /// The first class with at least this many units, for each number up to `byTable`.
    static constexpr auto makeFirst() noexcept {
        std::array<std::uint16_t, byTable + 1> first{};
        std::uint16_t index = 0;
        for (std::size_t units = 0; units <= byTable; ++units) {
            while (index < count && unitsOf(index) < units) {
                ++index;
            }
            first[units] = index;
        }
        return first;
    }
    /// The first class with at least 2^k units, for each k.
    static constexpr auto makeDoubling() noexcept {
        std::array<std::uint16_t, doublings> first{};
        std::uint16_t index = 0;
        for (std::size_t k = 0; k < doublings; ++k) {
            while (index < count && unitsOf(index) < (std::size_t{1} << k)) {
                ++index;
            }
            first[k] = index;
        }
        return first;
    }
    static constexpr auto first_ = makeFirst();
    static constexpr auto doubling_ = makeDoubling();

    static constexpr std::size_t firstFor(std::size_t units) noexcept {
        if (units <= byTable) [[likely]] {
            return first_[units];
        }
        if (units > unitsOf(count - 1)) {
            return count;
        }
        std::size_t index = doubling_[floorLog2(units)];
        while (unitsOf(index) < units) {
            ++index;
        }
        return index;
    }
};

} // namespace heapwright
