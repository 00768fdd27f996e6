// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An area of binary buddies: 2^MaxOrder bytes, aligned to that, with fields and a map at its start
// and blocks of 2^MinOrder bytes and more behind them, each aligned to its size.
//
//   | next | previous | taken | live | own | map: a byte for each 2^MinOrder | blocks ... |
//
// The map says of each block, under the place where it starts, of which order it is and whether it
// is free. Where no block starts it says what it said before, and is not asked: the other half of a
// block of some order is one such block, or starts with a smaller one. Under the fields and the map
// themselves it says 0, which no block is. A larger object has an area of its own without a map:
// it stands behind the fields, or, if it wants to be aligned to an area or more, on the boundary
// directly behind them.
// Invariant: no block stands at an area's start, so what does stand there has its fields before it,
// and everything else at the start of the area that it is in.
#pragma once

#include <heapwright/core/address.hpp>

#include <cstddef>

namespace heapwright {

template <std::size_t MinOrder, std::size_t MaxOrder>
struct BuddyArea {
    BuddyArea* next;
    BuddyArea* previous;
    void* taken;      ///< what came from below
    std::size_t live; ///< how many blocks are in the program's hands
    std::size_t own;  ///< the capacity of a larger object that has the area for itself, or 0

    static_assert(MinOrder >= 4 && MaxOrder < 40, "a block holds two links, and is 16-aligned");
    static_assert(MaxOrder >= MinOrder + 4, "half of the area must be left beside the map");

    static constexpr std::size_t sizeOf(std::size_t order) noexcept {
        return std::size_t{1} << order;
    }

    static constexpr std::size_t size = sizeOf(MaxOrder);
    static constexpr std::size_t largestBlock = size / 2;

    /// The smallest order of a block for a request that is not beyond the largest.
    [[nodiscard]] static constexpr std::size_t orderFor(std::size_t request) noexcept {
        return request <= sizeOf(MinOrder) ? MinOrder : floorLog2(request - 1) + 1;
    }

    /// The area of an object.
    [[nodiscard]] static BuddyArea* of(void* object) noexcept {
        const std::size_t distance = addressOf(object) % size;
        return static_cast<BuddyArea*>(backward(object, distance == 0 ? fields() : distance));
    }

    /// How far into its memory a larger object stands: behind the fields, at its alignment.
    [[nodiscard]] static constexpr std::size_t leadFor(std::size_t align) noexcept {
        return roundUp(fields(), align);
    }

    [[nodiscard]] void* at(std::size_t offset) noexcept { return forward(this, offset); }
    [[nodiscard]] std::size_t offsetOf(const void* object) const noexcept {
        return addressOf(object) - addressOf(this);
    }

    [[nodiscard]] std::size_t orderAt(std::size_t offset) noexcept {
        return entry(offset) & ~std::size_t{freeMark};
    }
    [[nodiscard]] bool isFree(std::size_t offset, std::size_t order) noexcept {
        return entry(offset) == (order | freeMark);
    }
    void markLive(std::size_t offset, std::size_t order) noexcept {
        entry(offset) = static_cast<Mark>(order);
    }
    void markFree(std::size_t offset, std::size_t order) noexcept {
        entry(offset) = static_cast<Mark>(order | freeMark);
    }

    /// Lays out a new area: calls `visit` with offset and order of each block, as large as their
    /// places allow.
    template <class Visit>
    void layOut(Visit visit) noexcept {
        for (std::size_t offset = 0; offset < firstBlock(); offset += sizeOf(MinOrder)) {
            entry(offset) = 0;
        }
        for (std::size_t offset = firstBlock(); offset < size;) {
            const auto order = static_cast<std::size_t>(__builtin_ctzll(offset));
            visit(offset, order);
            offset += sizeOf(order);
        }
    }

    /// Calls `visit` with offset and order of each block that there is.
    template <class Visit>
    void forEachBlock(Visit visit) noexcept {
        for (std::size_t offset = firstBlock(); offset < size;) {
            const std::size_t order = orderAt(offset);
            visit(offset, order);
            offset += sizeOf(order);
        }
    }

private:
    using Mark = unsigned char;
    static constexpr Mark freeMark = 0x80;

    // Functions, for the size of the area's own fields is known only when it is complete.
    static constexpr std::size_t fields() noexcept {
        return roundUp(sizeof(BuddyArea), minAlignment);
    }
    static constexpr std::size_t firstBlock() noexcept {
        constexpr std::size_t first =
            roundUp(sizeof(BuddyArea) + sizeOf(MaxOrder - MinOrder), sizeOf(MinOrder));
        static_assert(first <= largestBlock);
        return first;
    }

    [[nodiscard]] Mark& entry(std::size_t offset) noexcept {
        return *static_cast<Mark*>(forward(this, sizeof(BuddyArea) + (offset >> MinOrder)));
    }
};

} // namespace heapwright
