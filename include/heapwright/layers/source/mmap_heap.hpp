// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Gives each object a mapping of its own, straight from the system, and gives it back on free.
//
// Layout: the object stands 16 bytes, or its alignment if that is more, into the mapping, and never
// beyond the first page's end; its tag just before it carries the capacity. So the start of the
// mapping is the page in which the tag lies, and its length follows from the size in the tag (the
// last 8 bytes of the last page stay unused, since a tag holds multiples of 16).
// Fresh pages are zero, so `zalloc` costs nothing; `resize` and `relocate` move page tables, not
// bytes. Cost: a system call per operation, up to a page per object.
//
// Example: MmapHeap
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/structure/tag.hpp>

#include <bit>
#include <cstddef>
#include <new>
#include <string_view>

namespace heapwright {

class MmapHeap {
public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    static constexpr Tags writes = Tags::allDirect;
    /// What another one mapped can be unmapped here: it is their sum that counts what is mapped.
    static constexpr bool adopting = true;
    static constexpr std::string_view caption = "maps pages for each object, unmaps them on free";
    using Below = Heaps<>;

    constexpr MmapHeap() noexcept = default;
    MmapHeap(const MmapHeap&) = delete;
    MmapHeap& operator=(const MmapHeap&) = delete;
    ~MmapHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        const std::size_t length = lengthFor(size, minAlignment);
        return length == 0 ? nullptr : place(platform::mapPages(length), minAlignment, length);
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept { return malloc(size); }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        const std::size_t page = platform::pageSize();
        if (align <= page) {
            const std::size_t lead = align < minAlignment ? minAlignment : align;
            const std::size_t length = lengthFor(size, lead);
            return length == 0 ? nullptr : place(platform::mapPages(length), lead, length);
        }
        const std::size_t length = lengthFor(size, page);
        return length == 0 ? nullptr
                           : place(platform::mapPagesAt(length, align, align - page), page, length);
    }

    void free(void* object) noexcept {
        const std::size_t length = lengthOf(object);
        if (platform::unmapPages(startOf(object), length)) {
            mapped_ -= length;
        }
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return Tag::of(object).size() - Tag::bytes;
    }

    /// Grows or shrinks in place; growing works only where the addresses behind are free.
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

    /// Moves the pages to where the new size fits. An alignment beyond a page would be lost, so
    /// objects that stand at the end of their first page stay.
    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept {
        const std::size_t lead = leadOf(object);
        const std::size_t length = lengthOf(object);
        const std::size_t newLength = lengthFor(size, lead);
        if (newLength == 0 || lead == platform::pageSize()) {
            return nullptr;
        }
        void* const start = platform::movePages(startOf(object), length, newLength);
        if (start == nullptr) {
            return nullptr;
        }
        void* const moved = forward(start, lead);
        retag(moved, length, newLength);
        return moved;
    }

    void measure(Footprint& footprint) const noexcept { footprint.mapped += mapped_; }

private:
    /// The length of a mapping that holds `size` bytes behind a lead; 0 if there is no such number.
    static std::size_t lengthFor(std::size_t size, std::size_t lead) noexcept {
        const std::size_t page = platform::pageSize();
        std::size_t whole = 0;
        if (__builtin_add_overflow(size, lead + Tag::bytes + page - 1, &whole)) {
            return 0;
        }
        return roundDown(whole, page);
    }

    static void* startOf(void* object) noexcept {
        return pointerTo(roundDown(addressOf(object) - Tag::bytes, platform::pageSize()));
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
        mapped_ += length;
        return object;
    }

    void retag(void* object, std::size_t length, std::size_t newLength) noexcept {
        Tag& tag = Tag::of(object);
        tag = Tag(tag.size() - length + newLength, tag.state(), tag.flags());
        mapped_ += newLength - length;
    }

    std::size_t mapped_ = 0;
};

static_assert(SizedHeap<MmapHeap> && AlignedHeap<MmapHeap> && ZeroingHeap<MmapHeap>);
static_assert(ResizableHeap<MmapHeap> && RelocatingHeap<MmapHeap> && TaggedHeap<MmapHeap>);

} // namespace heapwright
