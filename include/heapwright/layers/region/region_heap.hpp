// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A region: a pointer moves through chunks, each twice as large as the one before, from
// `FirstChunk` bytes up to `MostChunk`; all objects are freed at once by `clear`, single frees do
// nothing.
//
// A small region costs little and a large one asks below seldom. A request too large for any chunk
// of the series gets one for itself. Where the superheap cannot give as large a chunk, one that is
// just large enough is asked for. Invariant: `next_` and `end_` are 0 or multiples of 16 in one
// chunk. Cost: an addition and a compare. Hanson's arenas; the growth is that of reaps (Berger,
// 2002).
// Example: RegionHeap<8 * KiB, 1 * MiB, MmapHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/structure/chunk_stack.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <std::size_t FirstChunk, std::size_t MostChunk, UnphasedHeap SuperHeap>
requires AnySizeHeap<SuperHeap>
class RegionHeap : private SuperHeap {
    /// A chunk is so much smaller than it is called that a rung below can put a header before it.
    static constexpr std::size_t spared = 2 * minAlignment;

    static_assert(FirstChunk % minAlignment == 0 && FirstChunk >= 8 * minAlignment);
    static_assert(MostChunk % minAlignment == 0 && MostChunk >= FirstChunk);

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool stackDiscipline = false; ///< chunks go back newest first, whatever comes
    static constexpr std::string_view caption =
        "moves a pointer through chunks that double in size, frees all at once";
    using Below = Heaps<SuperHeap>;

    constexpr RegionHeap() noexcept = default;
    ~RegionHeap() { clear(); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        if (size <= end_ - next_) [[likely]] { // and so is the multiple of 16 above it
            void* const object = pointerTo(next_);
            next_ += roundUp(size, minAlignment);
            return object;
        }
        return refill(size, *this);
    }

    /// Chunks come from the superheap as zero and no piece is handed out twice.
    [[nodiscard]] void* zalloc(std::size_t size) noexcept requires ZeroingHeap<SuperHeap> {
        return malloc(size);
    }

    /// What lies before the aligned address is lost.
    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        std::size_t whole = size;
        if (align > alignment && __builtin_add_overflow(size, align - alignment, &whole)) {
            return nullptr;
        }
        void* const object = malloc(whole);
        const std::size_t unit = align < alignment ? alignment : align;
        return object == nullptr ? nullptr : pointerTo(roundUp(addressOf(object), unit));
    }

    /// All that is left of a chunk, and at least `least` bytes of it: for who carves by itself.
    [[nodiscard]] void* mallocArea(std::size_t least, std::size_t& granted) noexcept {
        if (least > end_ - next_ || next_ == end_) {
            if (add(least) == nullptr) {
                return nullptr;
            }
            next_ = chunks_.top()->first();
            end_ = chunks_.top()->end;
        }
        granted = end_ - next_;
        void* const area = pointerTo(next_);
        next_ = end_;
        return area;
    }

    void free(void* /*object*/) noexcept {}

    void clear() noexcept {
        if constexpr (ClearableHeap<SuperHeap>) {
            chunks_ = ChunkStack();
            SuperHeap::clear();
        } else {
            while (chunks_.top() != nullptr) {
                SuperHeap::free(chunks_.pop());
            }
        }
        next_ = end_ = 0;
        chunk_ = FirstChunk;
    }

    [[nodiscard]] bool owns(const void* object) const noexcept { return chunks_.owns(object); }

    void measure(Footprint& footprint) noexcept requires MeasurableHeap<SuperHeap> {
        SuperHeap::measure(footprint);
        footprint.held += end_ - next_;
        footprint.heldCount += end_ != next_ ? 1U : 0U;
    }

private:
    /// Out of line, so that `malloc` needs no stack; static, so that the size stays where it is.
    [[gnu::noinline]] static void* refill(std::size_t size, RegionHeap& heap) noexcept {
        const StackedChunk* const chunk = heap.add(size);
        if (chunk == nullptr) {
            return nullptr;
        }
        const Address first = chunk->first();
        const Address next = first + roundUp(size, minAlignment);
        if (chunk->end - next >= heap.end_ - heap.next_) { // go on where there is more room
            heap.next_ = next;
            heap.end_ = chunk->end;
        }
        return pointerTo(first);
    }

    /// A chunk with room for `size` bytes: the next of the series that has it, else its own.
    StackedChunk* add(std::size_t size) noexcept {
        if (size <= roomIn(MostChunk)) [[likely]] {
            while (size > roomIn(chunk_)) {
                chunk_ = following(chunk_);
            }
            const std::size_t whole = chunk_ - spared;
            if (void* const memory = fresh(whole)) [[likely]] {
                chunk_ = following(chunk_);
                return chunks_.push(memory, whole);
            }
        }
        std::size_t whole = 0;
        if (__builtin_add_overflow(size, ChunkStack::overhead + minAlignment - 1, &whole)) {
            return nullptr;
        }
        whole = roundDown(whole, minAlignment);
        void* const memory = fresh(whole);
        return memory == nullptr ? nullptr : chunks_.push(memory, whole);
    }

    static constexpr std::size_t roomIn(std::size_t chunk) noexcept {
        return chunk - spared - ChunkStack::overhead;
    }
    static constexpr std::size_t following(std::size_t chunk) noexcept {
        return chunk <= MostChunk / 2 ? chunk * 2 : MostChunk;
    }

    void* fresh(std::size_t size) noexcept {
        if constexpr (ZeroingHeap<SuperHeap>) {
            return SuperHeap::zalloc(size);
        } else {
            return SuperHeap::malloc(size);
        }
    }

    Address next_ = 0;               ///< where the next object starts
    Address end_ = 0;                ///< where its chunk ends
    ChunkStack chunks_;              ///< all of them, the newest on top
    std::size_t chunk_ = FirstChunk; ///< the size of the next one
};

} // namespace heapwright
