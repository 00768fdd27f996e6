// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A stack of objects: `free(x)` frees x and all later objects. The newest object can be built piece
// by piece while its size is unknown: `grow` adds to it, `finish` ends it. Objects lie in chunks of
// `ChunkSize` bytes. An object that outgrows its chunk moves to a new one, with an eighth more
// room.
//
// An object under construction always exists, usually with no bytes. `malloc` adds to it and
// finishes it.
// Invariant: `object_` and `end_` are multiples of 16, so that rounding up never passes the end. An
// object without bytes takes 16, so that no two objects have one address.
// Cost: an addition and a compare.
// Source: the GNU C library's obstacks; the layer is from Heap Layers (Berger, 2002, 4.2.2).
//
// Example: ObstackHeap<4 * KiB, MallocHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/area/chunk_stack.hpp>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace heapwright {

template <std::size_t ChunkSize, MaxAlignedHeap SuperHeap>
    requires AnySizeHeap<SuperHeap> && AnyOrderHeap<SuperHeap>
class ObstackHeap : private SuperHeap {
    static_assert(ChunkSize % minAlignment == 0 && ChunkSize >= 8 * minAlignment);

    /// A chunk is smaller than its nominal size, so that a layer below can add a header.
    static constexpr std::size_t usual = ChunkSize - 2 * minAlignment;

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool stackDiscipline = true; ///< `free` also frees all later objects
    static constexpr std::string_view caption =
        "stacks objects in chunks, frees one with all that came after";
    using Below = Heaps<SuperHeap>;

    constexpr ObstackHeap() noexcept = default;
    ~ObstackHeap() { clear(); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return blank(size) ? finish() : nullptr;
    }

    /// Frees the object and all later ones, including one under construction.
    void free(void* object) noexcept {
        const Address place = addressOf(object);
        if (place <= addressOf(chunks_.top()) || place > end_) [[unlikely]] {
            dropChunksAbove(object, *this);
        }
        object_ = next_ = place;
    }

    void clear() noexcept {
        if constexpr (ClearableHeap<SuperHeap>) {
            chunks_ = ChunkStack();
            SuperHeap::clear();
        } else {
            chunks_.popAll([this](void* chunk) { SuperHeap::free(chunk); });
        }
        object_ = next_ = end_ = 0;
    }

    /// Adds `size` bytes to the object under construction. Returns false, and changes nothing, if
    /// there is no memory. The same holds for the next functions.
    [[nodiscard]] bool grow(const void* bytes, std::size_t size) noexcept {
        if (!hasRoom(size)) [[unlikely]] {
            return growInNewChunk(bytes, size, *this);
        }
        const Address place = next_; // a copy, because the bytes written might alias `next_`
        next_ = place + size;
        std::memcpy(pointerTo(place), bytes, size);
        return true;
    }

    /// Adds one byte.
    [[nodiscard]] bool grow(char byte) noexcept {
        if (next_ == end_) [[unlikely]] {
            return growInNewChunk(byte, *this);
        }
        const Address place = next_;
        next_ = place + 1;
        *static_cast<char*>(pointerTo(place)) = byte;
        return true;
    }

    /// Adds `size` uninitialised bytes.
    [[nodiscard]] bool blank(std::size_t size) noexcept {
        if (!hasRoom(size)) [[unlikely]] {
            return blankInNewChunk(size, *this);
        }
        next_ += size;
        return true;
    }

    /// Removes the last `size` bytes of the object under construction.
    /// Pre: it has that many.
    void shrink(std::size_t size) noexcept { next_ -= size; }

    /// Ends the object under construction, which stays where it is. Returns null only if it has no
    /// bytes and there is no memory for the 16 that it takes.
    [[nodiscard]] void* finish() noexcept {
        if (next_ == object_) [[unlikely]] {
            return finishEmpty(*this);
        }
        void* const object = pointerTo(object_);
        object_ = next_ = roundUp(next_, minAlignment);
        return object;
    }

    /// The address of the object under construction, valid until it grows.
    [[nodiscard]] void* base() const noexcept { return pointerTo(object_); }
    /// The number of its bytes.
    [[nodiscard]] std::size_t objectSize() const noexcept { return next_ - object_; }
    /// The number of bytes by which it can grow in place.
    [[nodiscard]] std::size_t room() const noexcept { return end_ - next_; }

    [[nodiscard]] bool owns(const void* object) const noexcept { return chunks_.owns(object); }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        SuperHeap::measure(usage);
        usage.held += end_ - next_;
        usage.heldCount += end_ != next_ ? 1U : 0U;
    }

private:
    [[nodiscard]] bool hasRoom(std::size_t size) const noexcept { return size <= end_ - next_; }

    /// The paths into a new chunk are out of line, so that the usual ones need no stack frame. They
    /// are static, so that the arguments stay in their registers.
    [[gnu::noinline]] static bool growInNewChunk(const void* bytes, std::size_t size,
                                                 ObstackHeap& heap) noexcept {
        if (!heap.addChunk(size)) {
            return false;
        }
        std::memcpy(pointerTo(heap.next_), bytes, size);
        heap.next_ += size;
        return true;
    }

    [[gnu::noinline]] static bool growInNewChunk(char byte, ObstackHeap& heap) noexcept {
        return heap.addChunk(1) && heap.grow(byte);
    }

    [[gnu::noinline]] static bool blankInNewChunk(std::size_t size, ObstackHeap& heap) noexcept {
        if (!heap.addChunk(size)) {
            return false;
        }
        heap.next_ += size;
        return true;
    }

    [[gnu::noinline]] static void* finishEmpty(ObstackHeap& heap) noexcept {
        return heap.blank(1) ? heap.finish() : nullptr;
    }

    /// Pre: a chunk below the newest one contains the object.
    [[gnu::noinline]] static void dropChunksAbove(const void* object, ObstackHeap& heap) noexcept {
        do {
            static_cast<SuperHeap&>(heap).free(heap.chunks_.pop());
        } while (!heap.chunks_.top()->holds(object));
        heap.end_ = heap.chunks_.top()->end;
    }

    /// Moves the object under construction to a new chunk with room for `size` more bytes. A chunk
    /// that contained only this object is freed.
    bool addChunk(std::size_t size) noexcept {
        const std::size_t have = objectSize();
        std::size_t whole = 0;
        if (__builtin_add_overflow(size, have + have / 8 + ChunkStack::overhead + minAlignment,
                                   &whole)) {
            return false;
        }
        whole = whole < usual ? usual : roundDown(whole, minAlignment);
        void* const memory = SuperHeap::malloc(whole);
        if (memory == nullptr) {
            return false;
        }
        StackedChunk* const before = chunks_.top();
        const bool alone = before != nullptr && object_ == before->first();
        if (alone) {
            chunks_.pop();
        }
        const StackedChunk* const chunk = chunks_.push(memory, whole);
        if (have != 0) {
            std::memcpy(pointerTo(chunk->first()), pointerTo(object_), have);
        }
        if (alone) {
            SuperHeap::free(before);
        }
        object_ = chunk->first();
        next_ = object_ + have;
        end_ = chunk->end;
        return true;
    }

    Address object_ = 0; ///< start of the object under construction
    Address next_ = 0;   ///< its end
    Address end_ = 0;    ///< the end of its chunk
    ChunkStack chunks_;  ///< all chunks; the top one contains that object
};

} // namespace heapwright
