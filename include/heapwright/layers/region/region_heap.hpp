// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A region: a pointer moves through chunks, each twice as large as the one before, from
// `FirstChunk` to `MostChunk` bytes. `clear` frees all objects at once. Single frees do nothing.
//
// A small region thus costs little, and a large one seldom calls the superheap. A request too large
// for any chunk of the series gets one for itself. If the superheap has no chunk of the next size,
// one that is just large enough is tried. The region cannot return zeroed memory, because zeroed
// chunks would cost every user.
// Invariant: `next_` and `end_` are 0, or multiples of 16 in one chunk.
// Cost: an addition and a compare.
// Source: Hanson's arenas; the growth is that of reaps (Berger, 2002).
//
// Example: RegionHeap<8 * KiB, 1 * MiB, MmapHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/poison.hpp>
#include <heapwright/structure/area/chunk_stack.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

/// The size of the next chunk. It doubles from `First` to `Most`.
template <std::size_t First, std::size_t Most>
class ChunkSeries {
public:
    [[nodiscard]] constexpr std::size_t chunk() const noexcept { return chunk_; }
    constexpr void advance() noexcept { chunk_ = chunk_ <= Most / 2 ? chunk_ * 2 : Most; }

private:
    std::size_t chunk_ = First;
};

/// All chunks have one size.
template <std::size_t Size>
class ChunkSeries<Size, Size> {
public:
    [[nodiscard]] static constexpr std::size_t chunk() noexcept { return Size; }
    static constexpr void advance() noexcept {}
};

template <std::size_t FirstChunk, std::size_t MostChunk, MaxAlignedHeap SuperHeap>
    requires AnySizeHeap<SuperHeap>
class RegionHeap : private SuperHeap {
    /// A chunk is smaller than its nominal size, so that a layer below can add a header.
    static constexpr std::size_t spared = 2 * minAlignment;

    static_assert(FirstChunk % minAlignment == 0 && FirstChunk >= 8 * minAlignment);
    static_assert(MostChunk % minAlignment == 0 && MostChunk >= FirstChunk);

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool stackDiscipline = false; ///< chunks are freed newest first
    static constexpr std::string_view caption =
        "moves a pointer through chunks that double in size, frees all at once";
    using Below = Heaps<SuperHeap>;

    constexpr RegionHeap() noexcept = default;
    ~RegionHeap() { clear(); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        // So the size rounded up to a multiple of 16 also fits.
        if (size <= end_ - next_) [[likely]] {
            void* const object = pointerTo(next_);
            platform::unpoison(object, size);
            next_ += roundUp(size, minAlignment);
            return object;
        }
        return refill(size, *this);
    }

    /// The bytes before the aligned address are lost.
    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        std::size_t whole = size;
        if (align > alignment && __builtin_add_overflow(size, align - alignment, &whole)) {
            return nullptr;
        }
        void* const object = malloc(whole);
        const std::size_t unit = align < alignment ? alignment : align;
        return object == nullptr ? nullptr : pointerTo(roundUp(addressOf(object), unit));
    }

    /// The rest of the present chunk, at least `least` bytes, for a caller that carves it.
    [[nodiscard]] void* mallocArea(std::size_t least, std::size_t& granted) noexcept {
        if (least <= end_ - next_ && next_ != end_) {
            granted = end_ - next_;
            void* const area = pointerTo(next_);
            platform::unpoison(area, granted);
            next_ = end_;
            return area;
        }
        void* const area = refill(least, *this);
        if (area == nullptr) {
            return nullptr;
        }
        granted = chunks_.top()->end - addressOf(area);
        platform::unpoison(area, granted);
        // If it is the chunk that the pointer is in.
        next_ = end_ == chunks_.top()->end ? end_ : next_;
        return area;
    }

    void free(void* /*object*/) noexcept {}

    void clear() noexcept {
        chunks_.unpoison();
        if constexpr (ClearableHeap<SuperHeap>) {
            chunks_ = ChunkStack();
            SuperHeap::clear();
        } else {
            chunks_.popAll([this](void* chunk) { SuperHeap::free(chunk); });
        }
        next_ = end_ = 0;
        series_ = {};
    }

    [[nodiscard]] bool owns(const void* object) const noexcept { return chunks_.owns(object); }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        SuperHeap::measure(usage);
        usage.held += end_ - next_;
        usage.heldCount += end_ != next_ ? 1U : 0U;
    }

private:
    /// From the next chunk of the series that has room. Out of line, so that `malloc` needs no
    /// stack frame. Static, so that the size stays in its register.
    [[gnu::noinline]] static void* refill(std::size_t size, RegionHeap& heap) noexcept {
        if (size <= roomIn(MostChunk)) [[likely]] {
            while (size > roomIn(heap.series_.chunk())) {
                heap.series_.advance();
            }
            const std::size_t whole = heap.series_.chunk() - spared;
            void* const memory = static_cast<SuperHeap&>(heap).malloc(whole);
            if (memory != nullptr) [[likely]] {
                heap.series_.advance();
                const Address first = heap.chunks_.push(memory, whole)->first();
                const Address next = first + roundUp(size, minAlignment);
                const Address end = addressOf(memory) + whole;
                platform::poison(pointerTo(first), end - first);
                platform::unpoison(pointerTo(first), size);
                if (end - next >= heap.end_ - heap.next_) { // continue in the chunk with more room
                    heap.next_ = next;
                    heap.end_ = end;
                }
                return pointerTo(first);
            }
        }
        return inOwnChunk(size, heap);
    }

    /// From a chunk that is just large enough.
    [[gnu::cold, gnu::noinline]] static void* inOwnChunk(std::size_t size,
                                                         RegionHeap& heap) noexcept {
        std::size_t whole = 0;
        if (__builtin_add_overflow(size, ChunkStack::overhead + minAlignment - 1, &whole)) {
            return nullptr;
        }
        whole = roundDown(whole, minAlignment);
        void* const memory = static_cast<SuperHeap&>(heap).malloc(whole);
        return memory == nullptr ? nullptr : pointerTo(heap.chunks_.push(memory, whole)->first());
    }

    static constexpr std::size_t roomIn(std::size_t chunk) noexcept {
        return chunk - spared - ChunkStack::overhead;
    }

    Address next_ = 0;  ///< start of the next object
    Address end_ = 0;   ///< the end of its chunk
    ChunkStack chunks_; ///< all chunks, the newest on top
    [[no_unique_address]] ChunkSeries<FirstChunk, MostChunk> series_;
};

} // namespace heapwright
