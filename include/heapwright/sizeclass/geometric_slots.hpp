// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Size classes for objects without a tag. The smallest slots have `Smallest` bytes: 8, or a
// multiple of 16. Each further slot is the largest multiple of 16 that is at most
// `Numerator / Denominator` times the one before. It is at least 16 larger (8 larger than a slot of
// 8). The last one has `Largest` bytes.
// Cost: one load from a table, built at compile time, with one byte for each 8 or 16 bytes.
// Source: the Hoard allocator, with a ratio of 1.2.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/sizeclass/size_classes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace heapwright {

template <std::size_t Numerator, std::size_t Denominator, std::size_t Smallest, std::size_t Largest>
class GeometricSlots {
    static_assert(Denominator >= 1 && Numerator > Denominator && Numerator <= UINT16_MAX,
                  "the ratio is above 1");
    static_assert(Smallest == minAlignment / 2 || Smallest % minAlignment == 0,
                  "the smallest slot has 8 bytes or a multiple of 16");
    static_assert(Largest % minAlignment == 0 && Largest >= Smallest);

    static constexpr std::size_t unit = Smallest < minAlignment ? Smallest : minAlignment;

    static constexpr std::size_t next(std::size_t slot) noexcept {
        const std::size_t grown = roundDown(slot * Numerator / Denominator, minAlignment);
        const std::size_t least = roundDown(slot, minAlignment) + minAlignment;
        const std::size_t chosen = grown > least ? grown : least;
        return chosen < Largest ? chosen : Largest;
    }

    static constexpr std::size_t counted() noexcept {
        std::size_t number = 1;
        for (std::size_t slot = Smallest; slot != Largest; slot = next(slot)) {
            ++number;
        }
        return number;
    }

public:
    static constexpr std::size_t count = counted();
    static_assert(count < UINT8_MAX);

    /// The size of a class's slots.
    [[nodiscard]] static constexpr std::size_t sizeOf(std::size_t index) noexcept {
        return sizes_[index];
    }

    /// The first class whose slots hold `request` bytes; `count` if none does.
    [[nodiscard]] static constexpr std::size_t classFor(std::size_t request) noexcept {
        if (request > Largest) [[unlikely]] {
            return count;
        }
        return first_[(request + unit - 1) / unit];
    }

    /// The last class whose slots are at most `capacity`. `count` or more if `capacity` is below
    /// the smallest class or above the largest.
    [[nodiscard]] static constexpr std::size_t classOf(std::size_t capacity) noexcept {
        const std::size_t index = classFor(capacity);
        return index == count || sizes_[index] == capacity ? index : index - 1;
    }

private:
    static constexpr auto makeSizes() noexcept {
        std::array<std::uint32_t, count> sizes{};
        std::size_t slot = Smallest;
        for (std::uint32_t& entry : sizes) {
            entry = static_cast<std::uint32_t>(slot);
            slot = next(slot);
        }
        return sizes;
    }
    static constexpr auto sizes_ = makeSizes();

    static constexpr auto makeFirst() noexcept {
        std::array<std::uint8_t, Largest / unit + 1> first{};
        std::uint8_t index = 0;
        for (std::size_t units = 0; units < first.size(); ++units) {
            while (sizes_[index] < units * unit) {
                ++index;
            }
            first[units] = index;
        }
        return first;
    }
    static constexpr auto first_ = makeFirst();
};

} // namespace heapwright
