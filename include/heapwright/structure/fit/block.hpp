// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks with boundary tags, for a heap that splits and merges.
//
//   | tag | object ............................ | tag | ...      in use
//   | tag | next | previous | ........ | size   | tag | ...      free
//
// Invariant: the blocks of a span lie end to end from the first tag to a fence, which is a tag
// without a block. After a free block, the next block has `prevFree` set, and the word before its
// tag repeats the size of the free block. That word belongs to the object while the block is in
// use, so it costs nothing. No two free blocks are neighbours.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/list/ring.hpp>
#include <heapwright/structure/object/tag.hpp>

#include <cstddef>
#include <new>

namespace heapwright {

struct Block {
    Tag tag;
    RingNode links; ///< only while the block is free

    /// The size of the smallest block: a free block needs its tag, links and size.
    static constexpr std::size_t minSize = 32;
    /// The largest request: a tag's size has 48 bits.
    static constexpr std::size_t largest = std::size_t{1} << 47U;

    [[nodiscard]] static Block* of(void* object) noexcept {
        return static_cast<Block*>(backward(object, Tag::bytes));
    }
    [[nodiscard]] static Block* of(RingNode* links) noexcept {
        return of(static_cast<void*>(links));
    }
    /// Writes a new tag.
    static Block* make(void* place, std::size_t size, State state,
                       Flag flags = Flag::none) noexcept {
        ::new (place) Tag(size, state, flags);
        return static_cast<Block*>(place);
    }
    /// The size of the block for an object of `request` bytes. 0 if the request exceeds `largest`,
    /// so that sums of sizes cannot overflow.
    [[nodiscard]] static constexpr std::size_t sizeFor(std::size_t request) noexcept {
        const std::size_t size = roundUp(request + Tag::bytes, minAlignment);
        return request > largest ? 0 : (size < minSize ? minSize : size);
    }

    /// Not `&links`, because the compiler would assume that the object has the size of the links.
    [[nodiscard]] void* object() noexcept { return forward(this, Tag::bytes); }
    [[nodiscard]] std::size_t size() const noexcept { return tag.size(); }
    [[nodiscard]] Block* next() noexcept { return at(size()); }
    /// The block that starts `bytes` after this one.
    [[nodiscard]] Block* at(std::size_t bytes) noexcept {
        return static_cast<Block*>(forward(this, bytes));
    }
    /// Pre: this block has `prevFree`.
    [[nodiscard]] Block* previous() noexcept {
        const std::size_t before = *static_cast<std::size_t*>(backward(this, sizeof(std::size_t)));
        return static_cast<Block*>(backward(this, before));
    }
    /// Repeats the size at the end, from which the next block finds this one.
    void writeFooter() noexcept {
        ::new (forward(this, size() - sizeof(std::size_t))) std::size_t(size());
    }
};

static_assert(sizeof(Block) + sizeof(std::size_t) == Block::minSize);

/// A span heap allocates spans of whole blocks, of any size. It knows whether a block is a whole
/// span. It can shorten the free last block of a span. If it can extend the newest span, `extend`
/// returns the added block.
template <class H>
concept SpanHeap = TaggedHeap<H> && AnySizeHeap<H> && AnyOrderHeap<H> &&
                   requires(H heap, Block* block, std::size_t size) {
                       { heap.isWholeSpan(block) } -> std::same_as<bool>;
                       { heap.shrink(block, size) } -> std::same_as<bool>;
                       { heap.extend(size) } -> std::same_as<void*>;
                   };

} // namespace heapwright
