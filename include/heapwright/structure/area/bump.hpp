// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A pointer that moves through a stretch of memory: the bookkeeping of the sources that have a
// fixed amount. Objects lie end to end, each with its tag before it. The last one can grow, and
// goes back when it is freed; the others wait until nothing is live any more or all is cleared.
//
//   base ->| 8 unused | tag | object ... | tag | object ... |  never touched: zero  |
//
// Everything is kept as a distance, and zero is where it begins: so the bookkeeping of a static
// buffer is laid out by the compiler and takes no room in the program's file, and the one of a
// mapping means the same in every process. Cost: two compares, an addition and a store.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/structure/object/tag.hpp>

#include <cstddef>
#include <cstring>
#include <new>

namespace heapwright {

/// A range of memory that starts at a multiple of 16 and was zero when its bump began.
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

    /// What was skipped for the alignment waits as a freed object does.
    [[nodiscard]] void* memalign(Stretch in, std::size_t align, std::size_t size) noexcept {
        const Address first = in.base + lead;
        if (align > in.bytes) {
            return nullptr;
        }
        return place(in, roundUp(first + next_, align) - first, size);
    }

    /// Fills only what was used before.
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

    /// Any new size for the last object; the others can only use less of what they have. What is
    /// added is zero.
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

    /// Whether an address lies in what was given out and not taken back as a whole.
    [[nodiscard]] bool owns(Stretch in, const void* object) const noexcept {
        return addressOf(object) - (in.base + lead) < next_;
    }

    /// Takes everything back but what stands below the floor.
    void clear() noexcept {
        next_ = floor_;
        live_ = 0;
    }

    /// What was given out so far stays for good: it is not counted, and `clear` does not take it.
    void keep() noexcept {
        floor_ = next_;
        live_ = 0;
    }

    /// How many bytes are in use, from the base on.
    [[nodiscard]] std::size_t used() const noexcept { return next_ == 0 ? 0 : lead + next_; }

private:
    /// From the base to the first object.
    static constexpr std::size_t lead = minAlignment;

    static std::size_t distance(Stretch in, const void* object) noexcept {
        return addressOf(object) - (in.base + lead);
    }

    [[nodiscard]] bool isLast(std::size_t at, void* object) const noexcept {
        return at + Tag::of(object).size() == next_;
    }

    /// The block of an object `at` that distance; 0 if there is no room for it.
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

    /// Clears of `size` bytes at a distance those that lie below the mark `touched`.
    static void clearTouched(void* from, std::size_t at, std::size_t size,
                             std::size_t touched) noexcept {
        if (at < touched) {
            std::memset(from, 0, size < touched - at ? size : touched - at);
        }
    }

    std::size_t next_ = 0;    ///< from the first object's place to the next one's
    std::size_t touched_ = 0; ///< the most that `next_` ever was: beyond, all is zero
    std::size_t floor_ = 0;   ///< below this nothing is taken back
    std::size_t live_ = 0;    ///< objects above the floor that are out
};

} // namespace heapwright
