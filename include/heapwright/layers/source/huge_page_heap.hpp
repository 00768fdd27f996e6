// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Gives each object a mapping of its own in huge pages: aligned to them, sized in them, and
// requested from the system as such. A program with much live memory spends less time on address
// translation, and the system spends less on page faults. If there are no huge pages, the mapping
// has ordinary ones.
//
// Layout: as in `MmapHeap`. The tag lies before the object, and the mapping starts in the huge page
// of the tag. Fresh pages are zero. An object that grows or moves stays on huge pages. `Pages` is
// the way to get them: `platform::AdvisedHugePages`, or `platform::ReservedHugePages`, which first
// uses those that the administrator has reserved.
// Cost: a few system calls for each operation, and up to a huge page for each object. Put it below
// a layer that requests large chunks: `ChunkHeap<2 * MiB, …>` fills a huge page except for 16
// bytes.
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

/// Huge pages that `Way` maps.
template <platform::HugePages Way>
struct HugePageKind {
    static std::size_t size() noexcept { return platform::hugePageSize(); }
    static void* map(std::size_t length, std::size_t align, std::size_t phase) noexcept {
        return Way::map(length, align, phase);
    }
    /// Moves only onto other huge pages, and never shrinks.
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
