// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Maps pages for each object and unmaps them on free.
//
// The tag lies before the object. Start and length of the mapping follow from the two
// (structure/object/mapped_objects.hpp). Fresh pages are zero, so `zalloc` costs nothing more.
// `resize` and `relocate` move page tables, not bytes.
// Cost: a system call for each operation, and up to a page for each object.
//
// Example: MmapHeap
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/structure/object/mapped_objects.hpp>
#include <heapwright/structure/object/tag.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

/// Ordinary pages of the system.
struct OrdinaryPages {
    static std::size_t size() noexcept { return platform::pageSize(); }
    static void* map(std::size_t length, std::size_t align, std::size_t phase) noexcept {
        return align == size() ? platform::mapPages(length)
                               : platform::mapPagesAt(length, align, phase);
    }
    static void* move(void* start, std::size_t length, std::size_t newLength) noexcept {
        return platform::movePages(start, length, newLength);
    }
};

class MmapHeap : private MappedObjects<OrdinaryPages> {
    using Objects = MappedObjects<OrdinaryPages>;

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    static constexpr Tags writes = Tags::allDirect;
    static constexpr bool concurrent = true;
    /// One heap may unmap what another mapped. Only the sum of their figures is meaningful.
    static constexpr bool acceptsForeignObjects = true;
    static constexpr std::string_view caption = "maps pages for each object, unmaps them on free";
    using Below = Heaps<>;

    constexpr MmapHeap() noexcept = default;

    using Objects::free;
    using Objects::getSize;
    using Objects::malloc;
    using Objects::measure;
    using Objects::memalign;
    using Objects::relocate;
    using Objects::resize;
    using Objects::zalloc;
};

static_assert(SizedHeap<MmapHeap> && AlignedHeap<MmapHeap> && ZeroingHeap<MmapHeap>);
static_assert(ResizableHeap<MmapHeap> && RelocatingHeap<MmapHeap> && TaggedHeap<MmapHeap>);

} // namespace heapwright
