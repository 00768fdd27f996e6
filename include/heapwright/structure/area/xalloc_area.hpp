// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One area of memory in which a new block always follows the last block in use. A free marks a
// block as dead. When the last block is freed, the pointer moves back over all dead blocks before
// it.
//
//   | first | tag | object ... | tag | object ... | unused ... |
//
// The tag before each object is the address of the previous tag, with the lowest bit set if the
// object is dead. The first tag of the area belongs to no object and is never dead, so the way back
// ends there without a test.
// Invariant: tags are at 8 modulo 16, objects at multiples of 16. `last_` is not dead.
// Cost: constant, except for the way back, which passes each block once.
// Source: the allocator of 197.parser (Sleator and Temperley), as in Berger's XallocHeap.
#pragma once

#include <heapwright/core/address.hpp>

#include <cstddef>
#include <new>

namespace heapwright {

class XallocArea {
    using Link = Address;
    static constexpr Link dead = 1;

public:
    /// The size of the smallest area: its first tag and one block.
    static constexpr std::size_t least = 2 * minAlignment;

    constexpr XallocArea() noexcept = default;

    /// Takes over `size` bytes at `memory`.
    /// Pre: `size` is at least `least`, and `memory` is a multiple of 16.
    void adopt(void* memory, std::size_t size) noexcept {
        start_ = addressOf(memory);
        end_ = start_ + sizeof(Link) + roundDown(size - sizeof(Link), minAlignment);
        ::new (memory) Link(0);
        reset();
    }

    /// The address of the area; null before there is one.
    [[nodiscard]] void* memory() const noexcept { return pointerTo(start_); }

    [[nodiscard]] bool owns(const void* object) const noexcept {
        return addressOf(object) - start_ < end_ - start_;
    }
    /// The bytes of the blocks in use and the dead blocks between them.
    [[nodiscard]] std::size_t used() const noexcept { return next_ - start_; }

    /// Null if there is too little room after the last block in use.
    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        std::size_t block = 0;
        if (__builtin_add_overflow(size, sizeof(Link) + minAlignment - 1, &block)) [[unlikely]] {
            return nullptr;
        }
        block = roundDown(block, minAlignment);
        if (block > end_ - next_) [[unlikely]] {
            return nullptr;
        }
        const Address tag = next_;
        next_ = tag + block;
        Link* const link = ::new (pointerTo(tag)) Link(last_);
        last_ = tag;
        return link + 1; // the compiler then knows that it is not null
    }

    void free(void* object) noexcept {
        const Address tag = addressOf(object) - sizeof(Link);
        if (tag != last_) {
            linkAt(tag) |= dead;
            return;
        }
        Address freed = tag;
        Link before = linkAt(tag);
        while ((linkAt(before) & dead) != 0) {
            freed = before;
            before = linkAt(before) - dead;
        }
        next_ = freed;
        last_ = before;
    }

    /// Only the last block in use can grow or shrink.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        const Address tag = addressOf(object) - sizeof(Link);
        std::size_t block = 0;
        if (tag != last_ || __builtin_add_overflow(size, sizeof(Link) + minAlignment - 1, &block)) {
            return false;
        }
        block = roundDown(block, minAlignment);
        if (block > end_ - tag) {
            return false;
        }
        next_ = tag + block;
        return true;
    }

    /// Removes all blocks.
    void reset() noexcept {
        next_ = start_ + sizeof(Link);
        last_ = start_;
    }

private:
    static Link& linkAt(Address tag) noexcept { return *static_cast<Link*>(pointerTo(tag)); }

    Address next_ = 0;  ///< the place of the next tag
    Address end_ = 0;   ///< limit of the last block
    Address last_ = 0;  ///< the tag of the last block in use, or the first of all
    Address start_ = 0; ///< the first tag of all
};

} // namespace heapwright
