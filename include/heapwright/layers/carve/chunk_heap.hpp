// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes memory in chunks of `ChunkSize` and carves it piece by piece with a moving pointer.
//
// Pieces start `Lead` bytes past a multiple of 16, so that an object after a header of `16 - Lead`
// bytes is aligned. A request too large for a chunk gets a chunk of its own. Pieces are not freed
// singly: `clear` and the destructor free them. Only a caller that passes the size (`free(object,
// size)`) returns such a chunk of its own. The unused rest of a chunk is poisoned for
// AddressSanitizer.
// Cost: an addition and a compare.
//
// Example: ChunkHeap<64 * KiB, 8, MmapHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/poison.hpp>
#include <heapwright/structure/forwarding.hpp>

#include <cstddef>
#include <new>
#include <string_view>

namespace heapwright {

template <std::size_t ChunkSize, std::size_t Lead, MaxAlignedHeap SuperHeap>
    requires AnyOrderHeap<SuperHeap>
class ChunkHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    struct Chunk {
        Chunk* next;
        Chunk* previous;
    };

    /// The bytes of a chunk before its first piece, with those that the layer below may put before
    /// it.
    static constexpr std::size_t overhead = sizeof(Chunk) + Lead + minAlignment;
    static constexpr std::size_t room = ChunkSize - 2 * minAlignment;

    static_assert(ChunkSize % minAlignment == 0 && ChunkSize >= 8 * minAlignment);
    static_assert(Lead % sizeof(void*) == 0 && Lead < minAlignment);

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr std::size_t alignmentOffset = Lead;
    static constexpr std::string_view caption =
        "takes memory in chunks, hands it out piece by piece";
    using Below = Heaps<SuperHeap>;

    constexpr ChunkHeap() noexcept = default;
    ~ChunkHeap() { clear(); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        // So the size rounded up to a multiple of 16 also fits.
        if (size <= end_ - next_) [[likely]] {
            void* const object = pointerTo(next_);
            platform::unpoison(object, size);
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
        if (size > room - overhead) {
            remove(static_cast<Chunk*>(backward(object, sizeof(Chunk) + Lead)));
        }
    }

    void clear() noexcept {
        if constexpr (ClearableHeap<SuperHeap>) {
            if constexpr (platform::poisons) {
                for (Chunk* chunk = chunks_; chunk != nullptr; chunk = chunk->next) {
                    platform::unpoison(chunk, room);
                }
            }
            SuperHeap::clear();
            chunks_ = nullptr;
        }
        while (chunks_ != nullptr) {
            remove(chunks_);
        }
        next_ = end_ = 0;
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
        if (size > room - overhead) {
            std::size_t whole = 0;
            if (__builtin_add_overflow(size, overhead, &whole)) {
                return nullptr;
            }
            Chunk* const own = add(whole);
            return own == nullptr ? nullptr : forward(own, sizeof(Chunk) + Lead);
        }
        Chunk* const chunk = add(room);
        if (chunk == nullptr) {
            return nullptr;
        }
        const Address first = addressOf(chunk) + sizeof(Chunk) + Lead;
        const Address last = first + roundDown(room - sizeof(Chunk) - Lead, minAlignment);
        platform::poison(pointerTo(first), last - first);
        platform::unpoison(pointerTo(first), size);
        const std::size_t piece = roundUp(size, minAlignment);
        if (last - first - piece > end_ - next_) { // continue in the chunk with more room
            next_ = first + piece;
            end_ = last;
        }
        return pointerTo(first);
    }

    Chunk* add(std::size_t size) noexcept {
        void* const memory = fresh(size);
        if (memory == nullptr) {
            return nullptr;
        }
        Chunk* const chunk = ::new (memory) Chunk{chunks_, nullptr};
        if (chunks_ != nullptr) {
            chunks_->previous = chunk;
        }
        chunks_ = chunk;
        return chunk;
    }

    void* fresh(std::size_t size) noexcept {
        if constexpr (ZeroingHeap<SuperHeap>) {
            return SuperHeap::zalloc(size);
        } else {
            return SuperHeap::malloc(size);
        }
    }

    void remove(Chunk* chunk) noexcept {
        (chunk->previous != nullptr ? chunk->previous->next : chunks_) = chunk->next;
        if (chunk->next != nullptr) {
            chunk->next->previous = chunk->previous;
        }
        platform::unpoison(chunk, room); // no chunk is smaller
        SuperHeap::free(chunk);
    }

    Address next_ = 0;        ///< where the next piece starts, `Lead` modulo 16 unless 0
    Address end_ = 0;         ///< the end of that chunk, a multiple of 16 after `next_`
    Chunk* chunks_ = nullptr; ///< all chunks, the newest first
};

} // namespace heapwright
