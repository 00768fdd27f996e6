// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Size classes for objects without a tag. Up to `Linear` bytes slots are 16 apart, and a class is
// found by a subtraction and a shift. Above, there are eight classes per doubling up to `Fine`, and
// four up to `Largest`. These are found by one load from a table with one byte for each 64.
//
// A policy may stretch the slots beyond `Linear`. Classes with the same slot are then one class.
//
// The waste is less than 16 bytes up to `Linear`. Without a policy it is at most a ninth of the
// slot up to `Fine`, and a fifth beyond.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/sizeclass/size_classes.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// A policy that leaves each slot as it is.
struct AsStepped {
    [[nodiscard]] static constexpr std::size_t of(std::size_t slot) noexcept { return slot; }
};

/// `Stretch::of` returns a slot that is as large or larger: a multiple of 64 that does not fall
/// while its argument rises. It leaves `Largest` as it is.
template <std::size_t Linear, std::size_t Fine, std::size_t Largest, class Stretch = AsStepped>
class LinearSlots {
    static_assert(std::has_single_bit(Linear) && std::has_single_bit(Fine) &&
                  std::has_single_bit(Largest));
    static_assert(Linear >= 512 && Fine >= Linear && Largest >= Fine,
                  "the steps beyond `Linear` are multiples of 64");

    static constexpr std::size_t linearCount = Linear / minAlignment;
    static constexpr std::size_t unit = 64;

    static constexpr std::size_t next(std::size_t slot) noexcept {
        const std::size_t doubling = std::bit_floor(slot);
        return slot + (slot < Linear ? minAlignment : doubling / (slot < Fine ? 8U : 4U));
    }

    /// Runs `visit` on each slot, in increasing order.
    template <class Visit>
    static constexpr void forEachSlot(Visit visit) noexcept {
        std::size_t last = 0;
        for (std::size_t step = minAlignment; last < Largest; step = next(step)) {
            const std::size_t slot = step <= Linear ? step : Stretch::of(step);
            if (slot != last) {
                visit(slot);
                last = slot;
            }
        }
    }

    static constexpr std::size_t counted() noexcept {
        std::size_t number = 0;
        forEachSlot([&number](std::size_t /*slot*/) { ++number; });
        return number;
    }

public:
    static constexpr std::size_t count = counted();
    static_assert(count < UINT8_MAX);

    /// Up to this size, the classes are 16 apart.
    static constexpr std::size_t linear = Linear;

    /// The class for a request of 1 to `linear` bytes. Other requests give no valid class.
    [[nodiscard, gnu::always_inline]] static constexpr std::size_t
    linearClassFor(std::size_t request) noexcept {
        return (request - 1) / minAlignment;
    }

    /// The size of a class's slots.
    [[nodiscard]] static constexpr std::size_t sizeOf(std::size_t index) noexcept {
        return sizes_[index];
    }

    /// The first class whose slots hold `request` bytes; `count` if none does.
    /// Pre: `request` is not 0.
    [[nodiscard]] static constexpr std::size_t classFor(std::size_t request) noexcept {
        return request <= Linear ? linearClassFor(request) : largerClassFor(request);
    }

    /// As `classFor`, for a request that is larger than `linear`, or 0. A request of 0 gives
    /// `count`.
    [[nodiscard, gnu::always_inline]] static constexpr std::size_t
    largerClassFor(std::size_t request) noexcept {
        return request - 1 < Largest ? first_[(request - 1) / unit] : count;
    }

    /// The last class whose slots are at most `capacity`. `count` or more if `capacity` is below
    /// the smallest class or above the largest.
    [[nodiscard]] static constexpr std::size_t classOf(std::size_t capacity) noexcept {
        const std::size_t index = capacity == 0 ? 0 : classFor(capacity);
        return index == count || sizes_[index] == capacity ? index : index - 1;
    }

private:
    static constexpr auto sizes_ = [] {
        std::array<std::uint32_t, count> sizes{};
        std::size_t at = 0;
        forEachSlot([&](std::size_t slot) { sizes[at++] = static_cast<std::uint32_t>(slot); });
        return sizes;
    }();

    /// The first class that holds the largest request of each 64 bytes. All slots above `Linear`
    /// end on multiples of 64.
    static constexpr auto first_ = [] {
        std::array<std::uint8_t, Largest / unit> first{};
        std::uint8_t index = 0;
        for (std::size_t at = 0; at < first.size(); ++at) {
            while (sizes_[index] < (at + 1) * unit) {
                ++index;
            }
            first[at] = index;
        }
        return first;
    }();
};

} // namespace heapwright
