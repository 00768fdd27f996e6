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
#include <heapwright/core/describe.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/platform/huge_pages.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/structure/object/mapped_objects.hpp>
#include <heapwright/structure/object/tag.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

/// Huge pages, got in the way that `Way` is.
template <platform::HugePages Way>
struct HugePageKind {
    static std::size_t size() noexcept { return platform::hugePageSize(); }
    static void* map(std::size_t length, std::size_t align, std::size_t phase) noexcept {
        return Way::map(length, align, phase);
    }
    /// Only onto others, so that the bytes stay on huge pages; and none are let go.
    static void* move(void* start, std::size_t length, std::size_t newLength) noexcept {
        void* const target = newLength < length ? nullptr : Way::map(newLength, size(), 0);
        if (target == nullptr) {
            return nullptr;
        }
        if (!platform::movePagesOnto(start, length, target)) {
            platform::unmapPages(target, newLength);
            return nullptr;
        }
        return target;
    }
};

template <platform::HugePages Pages>
class HugePageHeap : private MappedObjects<HugePageKind<Pages>> {
    using Objects = MappedObjects<HugePageKind<Pages>>;

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    static constexpr Tags writes = Tags::allDirect;
    static constexpr bool acceptsForeignObjects = true;
    static constexpr std::string_view caption = "maps huge pages for each object";
    using Below = Heaps<>;

    constexpr HugePageHeap() noexcept = default;

    using Objects::free;
    using Objects::getSize;
    using Objects::malloc;
    using Objects::measure;
    using Objects::memalign;
    using Objects::relocate;
    using Objects::resize;
    using Objects::zalloc;
};

static_assert(DirectHeap<HugePageHeap<platform::AdvisedHugePages>>);
static_assert(RelocatingHeap<HugePageHeap<platform::ReservedHugePages>>);

} // namespace heapwright
