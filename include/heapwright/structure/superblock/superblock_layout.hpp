// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The geometry of superblocks: the positions of the slots of a size class
// (structure/superblock/superblock.hpp), and slots that leave as little of a superblock as
// possible.
#pragma once

#include <heapwright/core/address.hpp>

#include <cstddef>
#include <cstdint>

namespace heapwright {

/// The geometry that all superblocks of a size class share.
struct SuperblockLayout {
    static constexpr std::size_t cacheLine = 64;
    using Link = std::uint16_t;

    std::uint32_t slot;       ///< size of a slot, in bytes
    std::uint32_t reciprocal; ///< 2^32 / slot, rounded up
    std::uint16_t count;      ///< number of slots
    std::uint16_t first;      ///< offset of the first slot, in bytes

    /// The layout of superblocks of `size` bytes. Pre: `slot <= size / 2`.
    [[nodiscard]] static constexpr SuperblockLayout of(std::size_t size,
                                                       std::size_t slot) noexcept {
        std::size_t count = (size - cacheLine) / (slot + sizeof(Link));
        while (firstFor(count) + count * slot > size) {
            --count;
        }
        return {static_cast<std::uint32_t>(slot), reciprocalOf(slot),
                static_cast<std::uint16_t>(count), static_cast<std::uint16_t>(firstFor(count))};
    }

private:
    [[nodiscard]] static constexpr std::uint32_t reciprocalOf(std::size_t number) noexcept {
        const std::uint64_t one = std::uint64_t{1} << 32U;
        return static_cast<std::uint32_t>((one + number - 1) / number);
    }
    [[nodiscard]] static constexpr std::size_t firstFor(std::size_t count) noexcept {
        return roundUp(cacheLine + count * sizeof(Link), cacheLine);
    }
};

/// A policy of size classes. It returns the largest slot, in whole cache lines, of which a
/// superblock of `Size` bytes holds as many as of another slot. So a superblock holds no fewer
/// objects of any size, and more of those that just miss the next number. A slot stays as it is
/// if its superblock leaves a page untouched. Several classes may become one.
template <std::size_t Size>
struct SuperblockFit {
    /// Pre: the slot consists of whole cache lines.
    [[nodiscard]] static constexpr std::size_t of(std::size_t slot) noexcept {
        constexpr std::size_t line = SuperblockLayout::cacheLine;
        constexpr std::size_t page = 4 * KiB;
        const SuperblockLayout layout = SuperblockLayout::of(Size, slot);
        if (layout.first + layout.count * slot <= Size - page) {
            return slot;
        }
        while (SuperblockLayout::of(Size, slot + line).count == layout.count) {
            slot += line;
        }
        return slot;
    }
};

} // namespace heapwright
