// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Objects that can be split and merged. Each has a tag with the size of its block and a flag that
// tells whether the previous block is free. Blocks lie end to end in spans. Each request of this
// layer gets a span with one block. The layer above splits and merges.
//
//   | next | previous | fence | tag | object ... | fence tag |
//
// If the superheap is contiguous, the newest span grows in place. The old fence becomes the tag of
// the added block, which can thus merge with the blocks before it.
// Invariant: structure/fit/block.hpp. The size in a fence is the distance to the span's first tag.
//
// Example: CoalesceableHeap<MmapHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/fit/block.hpp>
#include <heapwright/structure/forwarding.hpp>

#include <cstddef>
#include <cstring>
#include <new>
#include <string_view>

namespace heapwright {

template <SizedHeap SuperHeap>
    requires MaxAlignedHeap<SuperHeap>
class CoalesceableHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    struct Span {
        Span* next;
        Span* previous;
        Block* fence;

        Block* first() noexcept { return static_cast<Block*>(static_cast<void*>(this + 1)); }
    };

    static_assert(sizeof(Span) % minAlignment == minAlignment - Tag::bytes);

    static constexpr std::size_t overhead = sizeof(Span) + Tag::bytes + minAlignment;

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    static constexpr Tags writes = Tags::plain;
    static constexpr std::string_view caption =
        "lays out spans in which each object knows its neighbours";
    using Below = Heaps<SuperHeap>;

    constexpr CoalesceableHeap() noexcept = default;
    ~CoalesceableHeap() { clear(); }

    /// A span with one object of at least `size` bytes.
    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        const std::size_t whole = roomFor(size);
        return whole == 0 ? nullptr : layOut(SuperHeap::malloc(whole));
    }

    /// The layer writes nothing into the object, nor into what `extend` adds.
    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        const std::size_t whole = roomFor(size);
        return whole == 0 ? nullptr : layOut(SuperHeap::zalloc(whole));
    }

    /// Returns a span.
    /// Pre: the object is the whole span.
    void free(void* object) noexcept { remove(spanOf(Block::of(object)->next())); }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return Tag::of(object).size() - Tag::bytes;
    }

    /// Extends the newest span by about `size` bytes, at most 15 less. Returns the added block, or
    /// null.
    [[nodiscard]] void* extend(std::size_t size) noexcept {
        if constexpr (ResizableHeap<SuperHeap> && ContiguousHeap<SuperHeap>) {
            Span* const span = spans_;
            if (span == nullptr || !SuperHeap::resize(span, SuperHeap::getSize(span) + size)) {
                return nullptr;
            }
            Block* const added = span->fence;
            const Flag flags = added->tag.flags();
            placeFence(span, Flag::none);
            const std::size_t room = addressOf(span->fence) - addressOf(added);
            Block* const block = Block::make(added, room, State::live, flags);
            if constexpr (ZeroingHeap<SuperHeap>) { // except for the rest behind the old fence
                constexpr std::size_t rest = 2 * minAlignment;
                const std::size_t bytes = room - Tag::bytes;
                std::memset(block->object(), 0, bytes < rest ? bytes : rest);
            }
            return block->object();
        } else {
            return nullptr;
        }
    }

    /// Shortens a free last block to about `size` bytes, never to less. Returns false on failure.
    [[nodiscard]] bool shrink(Block* block, std::size_t size) noexcept {
        if constexpr (ResizableHeap<SuperHeap>) {
            Span* const span = spanOf(block->next());
            const std::size_t keep = addressOf(block) + size + 2 * Tag::bytes - addressOf(span);
            if (keep >= SuperHeap::getSize(span) || !SuperHeap::resize(span, keep)) {
                return false;
            }
            const Block* const before = span->fence;
            placeFence(span, Flag::prevFree);
            block->tag = Tag(addressOf(span->fence) - addressOf(block), block->tag.state(),
                             block->tag.flags());
            return span->fence != before;
        } else {
            return false;
        }
    }

    /// Whether a block is its whole span.
    [[nodiscard]] bool isWholeSpan(Block* block) noexcept {
        const Block* const end = block->next();
        return end->tag.is(State::fence) && end->size() == block->size();
    }

    /// Returns all spans.
    void clear() noexcept {
        if constexpr (ClearableHeap<SuperHeap>) {
            SuperHeap::clear();
            spans_ = nullptr;
        }
        while (spans_ != nullptr) {
            remove(spans_);
        }
    }

    using Forwards::measure;
    using Forwards::owns;

private:
    /// The size of a span for an object of `size` bytes; 0 on overflow.
    static constexpr std::size_t roomFor(std::size_t size) noexcept {
        std::size_t whole = 0;
        return __builtin_add_overflow(size, overhead + Block::minSize, &whole) ? 0 : whole;
    }

    /// Makes memory from the superheap the newest span; null if `memory` is null.
    void* layOut(void* memory) noexcept {
        if (memory == nullptr) {
            return nullptr;
        }
        auto* const span = ::new (memory) Span{spans_, nullptr, nullptr};
        if (spans_ != nullptr) {
            spans_->previous = span;
        }
        spans_ = span;
        placeFence(span, Flag::none);
        const std::size_t room = addressOf(span->fence) - addressOf(span->first());
        return Block::make(span->first(), room, State::live)->object();
    }

    /// Pre: the block is a fence.
    static Span* spanOf(Block* fence) noexcept {
        return static_cast<Span*>(backward(fence, fence->size())) - 1;
    }

    /// Writes the fence at the end of the span's usable size.
    void placeFence(Span* span, Flag flags) noexcept {
        const std::size_t room = roundDown(SuperHeap::getSize(span), minAlignment) - Tag::bytes;
        void* const place = forward(span, room);
        const std::size_t distance = addressOf(place) - addressOf(span->first());
        span->fence = Block::make(place, distance, State::fence, flags);
    }

    void remove(Span* span) noexcept {
        (span->previous != nullptr ? span->previous->next : spans_) = span->next;
        if (span->next != nullptr) {
            span->next->previous = span->previous;
        }
        SuperHeap::free(span);
    }

    Span* spans_ = nullptr; ///< all spans, the newest first
};

} // namespace heapwright
