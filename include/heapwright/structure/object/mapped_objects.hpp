// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The common part of the sources that map each object separately.
//
// Layout: The object starts 16 bytes into the mapping, or as many as its alignment if that is more.
// It starts at most at the first page's end. Its tag is just before it and holds the capacity. The
// mapping starts with the page of the tag, and its length follows from the size in the tag. (The
// last 8 bytes of the last page stay unused, because a tag holds multiples of 16.) `Pages` defines
// the page size and how pages are mapped and moved. Several threads may use it at once: they share
// only the count of mapped bytes.
// Cost: the system calls of `Pages`, and an addition.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/structure/object/tag.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <new>

namespace heapwright {

/// A kind of pages. `size()` is a power of two. `map(length, alignment, phase)` returns zero bytes
/// at `phase` modulo `alignment`; the latter is at least a page. `move(start, length, newLength)`
/// moves the bytes to other pages. Both return null, and change nothing, on failure.
template <class P>
concept PageKind = requires(std::size_t n, void* start) {
    { P::size() } -> std::same_as<std::size_t>;
    { P::map(n, n, n) } -> std::same_as<void*>;
    { P::move(start, n, n) } -> std::same_as<void*>;
};

template <PageKind Pages>
class MappedObjects {
public:
    constexpr MappedObjects() noexcept = default;
    MappedObjects(const MappedObjects&) = delete;
    MappedObjects& operator=(const MappedObjects&) = delete;
    ~MappedObjects() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        const std::size_t length = lengthFor(size, minAlignment);
        return length == 0 ? nullptr
                           : place(Pages::map(length, Pages::size(), 0), minAlignment, length);
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept { return malloc(size); }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        const std::size_t page = Pages::size();
        const std::size_t least = align < minAlignment ? minAlignment : align;
        const std::size_t lead = least < page ? least : page;
        const std::size_t length = lengthFor(size, lead);
        if (length == 0) {
            return nullptr;
        }
        const std::size_t unit = align <= page ? page : align;
        return place(Pages::map(length, unit, unit - page), lead, length);
    }

    void free(void* object) noexcept {
        const std::size_t length = lengthOf(object);
        if (platform::unmapPages(startOf(object), length)) {
            mapped_.fetchSub(length, std::memory_order_relaxed);
        }
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return Tag::of(object).size() - Tag::bytes;
    }

    /// Grows or shrinks in place. Growing works only if the addresses after the mapping are free.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        const std::size_t length = lengthOf(object);
        const std::size_t newLength = lengthFor(size, leadOf(object));
        if (newLength == 0) {
            return false;
        }
        if (newLength != length && !platform::resizePages(startOf(object), length, newLength)) {
            return false;
        }
        retag(object, length, newLength);
        return true;
    }

    /// Moves the pages to where the new size fits. An alignment beyond a page would be lost, so an
    /// object at the end of its first page does not move.
    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept {
        const std::size_t lead = leadOf(object);
        const std::size_t length = lengthOf(object);
        const std::size_t newLength = lengthFor(size, lead);
        if (newLength == 0 || lead == Pages::size()) {
            return nullptr;
        }
        void* const start = Pages::move(startOf(object), length, newLength);
        if (start == nullptr) {
            return nullptr;
        }
        void* const moved = forward(start, lead);
        retag(moved, length, newLength);
        return moved;
    }

    void measure(MemoryUsage& usage) const noexcept {
        usage.mapped += mapped_.load(std::memory_order_relaxed);
    }

private:
    /// The length of a mapping for `size` bytes after a lead; 0 on overflow.
    static std::size_t lengthFor(std::size_t size, std::size_t lead) noexcept {
        const std::size_t page = Pages::size();
        std::size_t whole = 0;
        if (__builtin_add_overflow(size, lead + Tag::bytes + page - 1, &whole)) {
            return 0;
        }
        return roundDown(whole, page);
    }

    static void* startOf(void* object) noexcept {
        return pointerTo(roundDown(addressOf(object) - Tag::bytes, Pages::size()));
    }
    static std::size_t leadOf(void* object) noexcept {
        return addressOf(object) - addressOf(startOf(object));
    }
    static std::size_t lengthOf(void* object) noexcept {
        return leadOf(object) + Tag::of(object).size();
    }

    void* place(void* start, std::size_t lead, std::size_t length) noexcept {
        if (start == nullptr) {
            return nullptr;
        }
        void* const object = forward(start, lead);
        ::new (backward(object, Tag::bytes)) Tag(length - lead, State::live, Flag::direct);
        mapped_.fetchAdd(length, std::memory_order_relaxed);
        return object;
    }

    void retag(void* object, std::size_t length, std::size_t newLength) noexcept {
        Tag& tag = Tag::of(object);
        tag = Tag(tag.size() - length + newLength, tag.state(), tag.flags());
        mapped_.fetchAdd(newLength - length, std::memory_order_relaxed);
    }

    SharedWord<std::size_t> mapped_{0};
};

} // namespace heapwright
