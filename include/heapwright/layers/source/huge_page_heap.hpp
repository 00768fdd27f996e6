// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Gives each object a mapping of its own in huge pages: aligned to them, sized in them, and asked
// of the system as such. A program whose live memory is large spends less on finding it, and the
// system less on handing it out. Where there are no huge pages, ordinary ones stand there.
//
// Layout: as in `MmapHeap`, the tag before the object and the start of the mapping in the huge page
// in which the tag lies. Fresh pages are zero; what grows or moves stays on huge pages. Cost: a few
// system calls an operation and up to a huge page an object, so put it below what asks for large
// chunks: of 2 MiB, `ChunkHeap<2 * MiB, …>` fills one to the last byte but 16.
// `Pages` says how they are asked for: `platform::AdvisedHugePages`, or first of all those that
// were set aside, `platform::ReservedHugePages`.
//
// Example: HugePageHeap<platform::AdvisedHugePages>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/platform/huge_pages.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/structure/tag.hpp>

#include <cstddef>
#include <new>
#include <string_view>

namespace heapwright {

template <platform::HugePages Pages>
class HugePageHeap {
public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    static constexpr Tags writes = Tags::allDirect;
    static constexpr bool adopting = true;
    static constexpr std::string_view caption = "maps huge pages for each object";
    using Below = Heaps<>;

    constexpr HugePageHeap() noexcept = default;
    HugePageHeap(const HugePageHeap&) = delete;
    HugePageHeap& operator=(const HugePageHeap&) = delete;
    ~HugePageHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept { return memalign(minAlignment, size); }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept { return malloc(size); }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        const std::size_t huge = platform::hugePageSize();
        const std::size_t least = align < minAlignment ? minAlignment : align;
        const std::size_t lead = least < huge ? least : huge;
        const std::size_t length = lengthFor(size, lead);
        if (length == 0) {
            return nullptr;
        }
        const std::size_t unit = align <= huge ? huge : align;
        return place(Pages::map(length, unit, unit - huge), lead, length);
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

    /// Moves the pages to where the new size fits. An alignment beyond a huge page would be lost,
    /// so objects that stand at the end of their first one stay.
    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept {
        const std::size_t huge = platform::hugePageSize();
        const std::size_t lead = leadOf(object);
        const std::size_t length = lengthOf(object);
        const std::size_t newLength = lengthFor(size, lead);
        if (newLength < length || lead == huge) {
            return nullptr;
        }
        void* const target = Pages::map(newLength, huge, 0);
        if (target == nullptr) {
            return nullptr;
        }
        if (!platform::movePagesOnto(startOf(object), length, target)) {
            platform::unmapPages(target, newLength);
            return nullptr;
        }
        void* const moved = forward(target, lead);
        retag(moved, length, newLength);
        return moved;
    }

    void measure(Footprint& footprint) const noexcept { footprint.mapped += mapped_; }

private:
    /// The length of a mapping that holds `size` bytes behind a lead; 0 if there is no such number.
    static std::size_t lengthFor(std::size_t size, std::size_t lead) noexcept {
        const std::size_t huge = platform::hugePageSize();
        std::size_t whole = 0;
        if (__builtin_add_overflow(size, lead + Tag::bytes + huge - 1, &whole)) {
            return 0;
        }
        return roundDown(whole, huge);
    }

    static void* startOf(void* object) noexcept {
        return pointerTo(roundDown(addressOf(object) - Tag::bytes, platform::hugePageSize()));
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

static_assert(DirectHeap<HugePageHeap<platform::AdvisedHugePages>>);
static_assert(RelocatingHeap<HugePageHeap<platform::ReservedHugePages>>);

} // namespace heapwright
