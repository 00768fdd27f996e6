// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A pointer that moves through an area and leaves live blocks behind, each with its tag
// (structure/fit/block.hpp). It can stop while another heap splits and merges the blocks.
//
//   | tag | object ... | tag | object ... | last tag | not used yet ... | room for the last tag |
//
// The last tag describes the unused rest. While the pointer moves, no code reads it, and it is not
// written. The two words of the cursor suffice to make a block, so a program's inline code can do
// it too (include/heapwright/c/reap.h).
// Invariant: `cursor_.next` is the place of the last tag, or 0 without an area. While the pointer
// moves, `cursor_.end` is the limit of the last block. Otherwise it is `cursor_.next`, and the last
// tag is written.
// Cost of a block: a compare, a store and an addition.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/structure/fit/block.hpp>
#include <heapwright/structure/object/tag.hpp>

#include <concepts>
#include <cstddef>

namespace heapwright {

struct BumpCursor {
    Address next = 0; ///< where the next block starts
    Address end = 0;

    /// Whether a block of `size` bytes fits. False for size 0, which no block has.
    [[nodiscard]] bool hasRoom(std::size_t size) const noexcept { return size - 1 < end - next; }

    /// Pre: there is room.
    [[nodiscard]] Block* make(std::size_t size) noexcept {
        Block* const block = Block::make(pointerTo(next), size, State::live);
        next += size;
        return block;
    }
};

/// A heap that exposes its cursor, for code that allocates as `malloc` does.
template <class H>
concept CursorHeap = Heap<H> && requires(H heap) {
    { heap.cursor() } -> std::same_as<BumpCursor&>;
};

class BumpArea {
public:
    /// The bytes of an area outside its blocks: the tags at both ends.
    static constexpr std::size_t overhead = 2 * Tag::bytes;

    [[nodiscard]] BumpCursor& cursor() noexcept { return cursor_; }
    [[nodiscard]] bool exists() const noexcept { return cursor_.next != 0; }
    [[nodiscard]] bool moving() const noexcept { return moving_; }
    [[nodiscard]] std::size_t rest() const noexcept { return end_ - cursor_.next; }
    /// Whether a block fits. The pointer may be stopped.
    [[nodiscard]] bool hasRoom(std::size_t size) const noexcept { return size - 1 < rest(); }
    /// Whether a block is the last one.
    [[nodiscard]] bool isLast(Block* block) const noexcept {
        return addressOf(block->next()) == cursor_.next;
    }

    /// Continues in other memory. The blocks may take `room` bytes.
    void enter(void* memory, std::size_t room) noexcept {
        cursor_.next = addressOf(memory) + Tag::bytes;
        cursor_.end = end_ = cursor_.next + room;
        moving_ = true;
    }

    /// The `room` for `enter` in `bytes` bytes of memory.
    [[nodiscard]] static std::size_t roomIn(std::size_t bytes) noexcept {
        return roundDown(bytes - overhead, minAlignment);
    }

    /// Makes the next block, with the flags of the last tag if the pointer was stopped. Starts the
    /// pointer.
    /// Pre: there is room.
    Block* make(std::size_t size) noexcept {
        const Flag flags = moving_ ? Flag::none : lastTag()->tag.flags();
        Block* const block = cursor_.make(size);
        block->tag = Tag(size, State::live, flags);
        cursor_.end = end_;
        moving_ = true;
        return block;
    }

    /// Stops the pointer.
    void stop() noexcept {
        if (moving_) {
            if (exists()) {
                writeLastTag();
            }
            cursor_.end = cursor_.next;
            moving_ = false;
        }
    }

    /// Removes the last block. Returns false if the block is not the last, or its neighbour is
    /// free.
    /// Pre: the pointer moves.
    [[nodiscard]] bool takeBack(Block* block) noexcept {
        const bool can = isLast(block) && !block->tag.has(Flag::prevFree);
        cursor_.next = can ? addressOf(block) : cursor_.next;
        return can;
    }

    /// Resizes the last block to `size` bytes. Returns false if there is no room.
    [[nodiscard]] bool resizeLast(Block* block, std::size_t size) noexcept {
        if (size == 0 || size > end_ - addressOf(block)) {
            return false;
        }
        block->tag = Tag(size, block->tag.state(), block->tag.flags());
        cursor_.next = addressOf(block->next());
        if (!moving_) {
            writeLastTag();
            cursor_.end = cursor_.next;
        }
        return true;
    }

    /// The size of the gap block before a block whose object is aligned, if both start here; 0 if
    /// none is needed.
    [[nodiscard]] static std::size_t gapBefore(std::size_t align, Address block) noexcept {
        const Address first = block + Tag::bytes;
        const std::size_t gap = roundUp(first, align) - first;
        return gap != 0 && gap < Block::minSize ? gap + align : gap;
    }

private:
    [[nodiscard]] Block* lastTag() const noexcept {
        return static_cast<Block*>(pointerTo(cursor_.next));
    }
    void writeLastTag() noexcept { Block::make(lastTag(), 0, State::live); }

    BumpCursor cursor_;
    Address end_ = 0; ///< limit of the last block
    bool moving_ = true;
};

} // namespace heapwright
