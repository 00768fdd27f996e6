// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A pointer that moves through a range of memory: the state of a source with a fixed amount of
// memory. Objects lie end to end, each with its tag before it. The last one can grow, and is reused
// when it is freed. The others are reused when no object is live, or on `clear`.
//
//   base ->| 8 unused | tag | object ... | tag | object ... |  never touched: zero  |
//
// All fields are distances and start at zero. The state of a static buffer is therefore initialised
// at compile time and takes no room in the program's file. The state in a shared mapping is valid
// in every process.
// Cost: two compares, an addition and a store.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/structure/object/tag.hpp>

#include <cstddef>
#include <cstring>
#include <new>

namespace heapwright {

/// A range of memory.
/// Pre: it starts at a multiple of 16 and was zero when its bump began.
struct Stretch {
    Address base;
    std::size_t bytes;
};

class Bump {
public:
    constexpr Bump() noexcept = default;

    [[nodiscard]] void* malloc(Stretch in, std::size_t size) noexcept {
        return place(in, next_, size);
    }

    /// The bytes skipped for the alignment count as a freed object.
    [[nodiscard]] void* memalign(Stretch in, std::size_t align, std::size_t size) noexcept {
        const Address first = in.base + lead;
        if (align > in.bytes) {
            return nullptr;
        }
        return place(in, roundUp(first + next_, align) - first, size);
    }

    /// Fills only bytes that were used before.
    [[nodiscard]] void* zalloc(Stretch in, std::size_t size) noexcept {
        const std::size_t touched = touched_;
        void* const object = malloc(in, size);
        if (object != nullptr) {
            clearTouched(object, distance(in, object), size, touched);
        }
        return object;
    }

    void free(Stretch in, void* object) noexcept {
        const std::size_t at = distance(in, object);
        next_ = isLast(at, object) ? at : next_;
        --live_;
        if (live_ == 0) {
            next_ = floor_;
        }
    }

    /// Any new size for the last object. Other objects can only shrink. Added bytes are zero.
    [[nodiscard]] bool resize(Stretch in, void* object, std::size_t size) noexcept {
        const std::size_t at = distance(in, object);
        const std::size_t had = Tag::of(object).size();
        const std::size_t block = blockFor(in, at, size);
        if (block == 0 || (block > had && !isLast(at, object))) {
            return false;
        }
        if (isLast(at, object)) {
            Tag& tag = Tag::of(object);
            tag = Tag(block, tag.state(), tag.flags());
            next_ = at + block;
            if (block > had) {
                clearTouched(forward(object, had - Tag::bytes), at + had - Tag::bytes, block - had,
                             touched_);
            }
            touched_ = next_ > touched_ ? next_ : touched_;
        }
        return true;
    }

    /// Whether an address lies in the allocated part of the range.
    [[nodiscard]] bool owns(Stretch in, const void* object) const noexcept {
        return addressOf(object) - (in.base + lead) < next_;
    }

    /// Frees everything above the floor.
    void clear() noexcept {
        next_ = floor_;
        live_ = 0;
    }

    /// Makes all present objects permanent: they are not counted, and `clear` does not free them.
    void keep() noexcept {
        floor_ = next_;
        live_ = 0;
    }

    /// The number of bytes in use, from the base.
    [[nodiscard]] std::size_t used() const noexcept { return next_ == 0 ? 0 : lead + next_; }

private:
    /// The distance from the base to the first object.
    static constexpr std::size_t lead = minAlignment;

    static std::size_t distance(Stretch in, const void* object) noexcept {
        return addressOf(object) - (in.base + lead);
    }

    [[nodiscard]] bool isLast(std::size_t at, void* object) const noexcept {
        return at + Tag::of(object).size() == next_;
    }

    /// The block of an object at distance `at`; 0 if there is no room for it.
    static std::size_t blockFor(Stretch in, std::size_t at, std::size_t size) noexcept {
        if (size > in.bytes) {
            return 0;
        }
        const std::size_t block = roundUp(size + Tag::bytes, minAlignment);
        return lead + at + block - Tag::bytes > in.bytes ? 0 : block;
    }

    void* place(Stretch in, std::size_t at, std::size_t size) noexcept {
        const std::size_t block = blockFor(in, at, size);
        if (block == 0) {
            return nullptr;
        }
        void* const object = pointerTo(in.base + lead + at);
        ::new (backward(object, Tag::bytes)) Tag(block, State::live);
        next_ = at + block;
        touched_ = next_ > touched_ ? next_ : touched_;
        ++live_;
        return object;
    }

    /// Clears those of `size` bytes at a distance that lie below the mark `touched`.
    static void clearTouched(void* from, std::size_t at, std::size_t size,
                             std::size_t touched) noexcept {
        if (at < touched) {
            std::memset(from, 0, size < touched - at ? size : touched - at);
        }
    }

    std::size_t next_ = 0;    ///< distance from the first object to the next one
    std::size_t touched_ = 0; ///< the maximum of `next_` so far; all bytes beyond are zero
    std::size_t floor_ = 0;   ///< objects below are permanent
    std::size_t live_ = 0;    ///< number of live objects above the floor
};

} // namespace heapwright
