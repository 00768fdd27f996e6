// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How superblocks are laid out (structure/superblock/superblock.hpp), and what they are made of: a
// header of a cache line, 16 bits for each slot, and from the start of a cache line on the slots.
// Which slot an offset lies in follows by a multiplication, exactly.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/introspection.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// A heap of aligned blocks of one size that never writes to them, and of whose addresses any
/// thread may ask at any time.
template <class H>
concept BlockHeap = OwningHeap<H> && TrimmableHeap<H> && requires {
    { H::blockSize } -> std::convertible_to<std::size_t>;
    requires H::blockSize != 0 && H::alignment >= H::blockSize;
};

/// Any free slot of a superblock may be used.
struct AnyLines {
    static constexpr bool clean = false;
};

/// After a superblock has got another tenant, no slot is used that shares a cache line with an
/// object that is live from before.
struct CleanLines {
    static constexpr bool clean = true;
};

/// What the superblocks of a size class have in common.
struct SuperblockLayout {
    static constexpr std::size_t cacheLine = 64;
    using Link = std::uint16_t;

    std::uint32_t slot;       ///< the size of a slot
    std::uint32_t reciprocal; ///< 2^32 over that, rounded up
    std::uint16_t count;      ///< how many slots there are
    std::uint16_t first;      ///< where they start

    /// The layout of superblocks of `size` bytes. Pre: half of that holds a slot.
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

} // namespace heapwright
