// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks that know their neighbours: the boundary tags of a heap that splits and merges.
//
//   | tag | object ............................ | tag | ...      in use
//   | tag | next | previous | ........ | size   | tag | ...      free
//
// Invariants of a span: blocks lie end to end from the first tag to a fence, which is a tag alone.
// Where a block is free, the block after it has `prevFree` set and the word before that block's tag
// repeats the free block's size, so that the way back is known; the word belongs to the object
// while the block is in use, so this costs nothing. No two free blocks are neighbours.
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

    /// The smallest block: what a free one needs for its tag, links and size.
    static constexpr std::size_t minSize = 32;
    /// The largest request: a tag's size has 48 bits.
    static constexpr std::size_t largest = std::size_t{1} << 47U;

    [[nodiscard]] static Block* of(void* object) noexcept {
        return static_cast<Block*>(backward(object, Tag::bytes));
    }
    [[nodiscard]] static Block* of(RingNode* links) noexcept {
        return of(static_cast<void*>(links));
    }
    /// Writes a tag where there was none.
    static Block* make(void* place, std::size_t size, State state,
                       Flag flags = Flag::none) noexcept {
        ::new (place) Tag(size, state, flags);
        return static_cast<Block*>(place);
    }
    /// The block that an object of `request` bytes needs; 0 if no address space has room for it, so
    /// that sums of sizes cannot overflow.
    [[nodiscard]] static constexpr std::size_t sizeFor(std::size_t request) noexcept {
        const std::size_t size = roundUp(request + Tag::bytes, minAlignment);
        return request > largest ? 0 : (size < minSize ? minSize : size);
    }

    /// Not `&links`: the compiler would take the object to be as large as these.
    [[nodiscard]] void* object() noexcept { return forward(this, Tag::bytes); }
    [[nodiscard]] std::size_t size() const noexcept { return tag.size(); }
    [[nodiscard]] Block* next() noexcept { return at(size()); }
    /// The block that starts `bytes` further on.
    [[nodiscard]] Block* at(std::size_t bytes) noexcept {
        return static_cast<Block*>(forward(this, bytes));
    }
    /// Pre: this block has `prevFree`.
    [[nodiscard]] Block* previous() noexcept {
        const std::size_t before = *static_cast<std::size_t*>(backward(this, sizeof(std::size_t)));
        return static_cast<Block*>(backward(this, before));
    }
    /// Repeats the size at the end, for the next block's way back.
    void writeFooter() noexcept {
        ::new (forward(this, size() - sizeof(std::size_t))) std::size_t(size());
    }
};

static_assert(sizeof(Block) + sizeof(std::size_t) == Block::minSize);

/// A span heap gives out spans of whole blocks, of any size: it knows when a block is all of its
/// span, can cut the free last block of one short, and where it can make the newest one longer,
/// `extend` gives the block that was added.
template <class H>
concept SpanHeap = TaggedHeap<H> && AnySizeHeap<H> && AnyOrderHeap<H> &&
                   requires(H heap, Block* block, std::size_t size) {
                       { heap.isWholeSpan(block) } -> std::same_as<bool>;
                       { heap.shrink(block, size) } -> std::same_as<bool>;
                       { heap.extend(size) } -> std::same_as<void*>;
                   };

} // namespace heapwright
