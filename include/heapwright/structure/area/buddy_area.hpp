// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An area of binary buddies: 2^MaxOrder bytes, aligned to that size. Its fields and a map come
// first. Blocks of 2^MinOrder bytes and more follow, each aligned to its size.
//
//   | next | previous | taken | live | own | map: a byte for each 2^MinOrder | blocks ... |
//
// The entry at the start of each block holds the order of the block and whether it is free. Entries
// where no block starts are outdated and never read. The other half of a block is either one block
// of that order, or it starts with a smaller one. The entries of the fields and the map hold 0,
// which no block has. A larger object has an area of its own without a map. It follows the fields,
// or starts at the next area boundary if it is aligned to an area or more.
// Invariant: no block starts at the start of an area. An object at such an address thus has its
// fields before it. The fields of any other object are at the start of its area.
#pragma once

#include <heapwright/core/address.hpp>

#include <cstddef>

namespace heapwright {

template <std::size_t MinOrder, std::size_t MaxOrder>
struct BuddyArea {
    BuddyArea* next;
    BuddyArea* previous;
    void* taken;      ///< the address from the superheap
    std::size_t live; ///< number of blocks that the program uses
    std::size_t own;  ///< the capacity of a larger object with an area of its own; otherwise 0

    static_assert(MinOrder >= 4 && MaxOrder < 40, "a block holds two links, and is 16-aligned");
    static_assert(MaxOrder >= MinOrder + 4, "half of the area must be left beside the map");

    static constexpr std::size_t sizeOf(std::size_t order) noexcept {
        return std::size_t{1} << order;
    }

    static constexpr std::size_t size = sizeOf(MaxOrder);
    static constexpr std::size_t largestBlock = size / 2;

    /// The smallest order of a block for a request.
    /// Pre: the request is at most `largestBlock`.
    [[nodiscard]] static constexpr std::size_t orderFor(std::size_t request) noexcept {
        return request <= sizeOf(MinOrder) ? MinOrder : floorLog2(request - 1) + 1;
    }

    /// The area of an object.
    [[nodiscard]] static BuddyArea* of(void* object) noexcept {
        const std::size_t distance = addressOf(object) % size;
        return static_cast<BuddyArea*>(backward(object, distance == 0 ? fields() : distance));
    }

    /// The offset of a larger object in its memory: after the fields, at its alignment.
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

    /// Initialises a new area. Calls `visit` with offset and order of each block; the blocks are as
    /// large as their alignment allows.
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

    /// Calls `visit` with offset and order of each block.
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

    // Functions, because the size of the class is known only when it is complete.
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
