// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Moves a pointer through chunks of `ChunkSize`, which are never returned to the heap below. That
// is a unique heap that outlives everything, so a piece may outlive the heap that allocated it.
// Several of these heaps over one unique heap, each for a thread, can take each other's pieces
// back: pure private heaps.
//
// Pieces start `Lead` bytes past a multiple of 16, as those of `ChunkHeap`. A request too large for
// a chunk goes to the superheap, and returns there if the caller passes its size (`free(object,
// size)`). Other pieces are not taken back. The rest of a chunk is lost when the next chunk begins
// or the heap is destroyed.
// Cost: an addition and a compare.
//
// Example: BumpHeap<64 * KiB, 8, UniqueHeap<DefaultName, MmapHeap>>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/forwarding.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <std::size_t ChunkSize, std::size_t Lead, UniquelyNamedHeap SuperHeap>
    requires MaxAlignedHeap<SuperHeap> && AnySizeHeap<SuperHeap> && AnyOrderHeap<SuperHeap>
class BumpHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    /// The size of a request to the superheap, which may add 16 bytes before and after it.
    static constexpr std::size_t room = ChunkSize - 2 * minAlignment;

    static_assert(ChunkSize % minAlignment == 0 && ChunkSize >= 8 * minAlignment);
    static_assert(Lead % sizeof(void*) == 0 && Lead < minAlignment);

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr std::size_t alignmentOffset = Lead;
    static constexpr bool acceptsForeignObjects = true;
    static constexpr bool processLocal = true; ///< the unique heap belongs to the process
    static constexpr std::string_view caption = "moves a pointer through chunks that it leaves";
    using Below = Heaps<SuperHeap>;

    constexpr BumpHeap() noexcept = default;
    BumpHeap(const BumpHeap&) = delete;
    BumpHeap& operator=(const BumpHeap&) = delete;
    ~BumpHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        // So the size rounded up to a multiple of 16 also fits.
        if (size <= end_ - next_) [[likely]] {
            void* const object = pointerTo(next_);
            next_ += roundUp(size, minAlignment);
            return object;
        }
        return refill(size);
    }

    /// The superheap returns chunks of zeros, and each piece is used only once.
    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return malloc(size);
    }

    void free(void* /*object*/) noexcept {}

    /// Frees an object whose requested size the caller knows.
    void free(void* object, std::size_t size) noexcept {
        if (size > room - minAlignment) {
            SuperHeap::free(backward(object, Lead));
        }
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        SuperHeap::measure(usage);
        usage.held += end_ - next_;
        usage.heldCount += end_ != next_ ? 1U : 0U;
    }

    using Forwards::owns;

private:
    [[gnu::noinline]] void* refill(std::size_t size) noexcept {
        if (size > room - minAlignment) {
            std::size_t whole = 0;
            void* const own = __builtin_add_overflow(size, Lead, &whole) ? nullptr : fresh(whole);
            return own == nullptr ? nullptr : forward(own, Lead);
        }
        void* const chunk = fresh(room);
        if (chunk == nullptr) {
            return nullptr;
        }
        const Address first = addressOf(chunk) + Lead;
        const Address last = first + room - minAlignment;
        const std::size_t piece = roundUp(size, minAlignment);
        if (last - first - piece > end_ - next_) { // continue in the chunk with more room
            next_ = first + piece;
            end_ = last;
        }
        return pointerTo(first);
    }

    void* fresh(std::size_t size) noexcept {
        if constexpr (ZeroingHeap<SuperHeap>) {
            return SuperHeap::zalloc(size);
        } else {
            return SuperHeap::malloc(size);
        }
    }

    Address next_ = 0; ///< where the next piece starts, `Lead` modulo 16 unless 0
    Address end_ = 0;  ///< the end of that chunk, a multiple of 16 after `next_`
};

} // namespace heapwright
