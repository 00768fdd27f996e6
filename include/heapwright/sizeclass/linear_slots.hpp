// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Size classes for objects without a tag whose small ones need no table: slots of 16, 32, 48 … up
// to `Linear` bytes, where a class is a subtraction and a shift; from there on eight to each
// doubling up to `Fine`, and four up to `Largest`, by one load from a table of a byte for each 64.
//
// What a request loses is less than 16 bytes up to `Linear`, a ninth of its slot up to `Fine`, and
// a fifth beyond.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/sizeclass/size_classes.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace heapwright {

template <std::size_t Linear, std::size_t Fine, std::size_t Largest>
class LinearSlots {
    static_assert(std::has_single_bit(Linear) && std::has_single_bit(Fine) &&
                  std::has_single_bit(Largest));
    static_assert(Linear >= 512 && Fine >= Linear && Largest >= Fine,
                  "an eighth of what is beyond is a multiple of 64");

    static constexpr std::size_t linearCount = Linear / minAlignment;
    static constexpr std::size_t unit = 64;

    static constexpr std::size_t next(std::size_t slot) noexcept {
        const std::size_t doubling = std::bit_floor(slot);
        return slot + (slot < Linear ? minAlignment : doubling / (slot < Fine ? 8U : 4U));
    }

    static constexpr std::size_t counted() noexcept {
        std::size_t number = 1;
        for (std::size_t slot = minAlignment; slot != Largest; slot = next(slot)) {
            ++number;
        }
        return number;
    }

public:
    static constexpr std::size_t count = counted();
    static_assert(count < UINT8_MAX);

    /// Up to this size classes are 16 apart.
    static constexpr std::size_t linear = Linear;

    /// The class for a request of 1 to `linear` bytes. Of others it is no class of these.
    [[nodiscard, gnu::always_inline]] static constexpr std::size_t
    linearClassFor(std::size_t request) noexcept {
        return (request - 1) / minAlignment;
    }

    /// The size of a class's slots.
    [[nodiscard]] static constexpr std::size_t sizeOf(std::size_t index) noexcept {
        return sizes_[index];
    }

    /// The first class whose slots hold `request` bytes, which is not 0; `count` if none does.
    [[nodiscard]] static constexpr std::size_t classFor(std::size_t request) noexcept {
        return request <= Linear ? linearClassFor(request) : largerClassFor(request);
    }

    /// The same for a request that is larger than `linear`, or 0, for which there is no class.
    [[nodiscard, gnu::always_inline]] static constexpr std::size_t
    largerClassFor(std::size_t request) noexcept {
        return request - 1 < Largest ? first_[(request - 1) / unit] : count;
    }

    /// The last class whose slots are not larger than `capacity`; `count` or more if that is
    /// smaller or larger than every class.
    [[nodiscard]] static constexpr std::size_t classOf(std::size_t capacity) noexcept {
        const std::size_t index = capacity == 0 ? 0 : classFor(capacity);
        return index == count || sizes_[index] == capacity ? index : index - 1;
    }

private:
    static constexpr auto sizes_ = [] {
        std::array<std::uint32_t, count> sizes{};
        std::size_t slot = minAlignment;
        for (std::uint32_t& entry : sizes) {
            entry = static_cast<std::uint32_t>(slot);
            slot = next(slot);
        }
        return sizes;
    }();

    /// The first class that holds the largest request of each 64 bytes: no slot ends between.
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
