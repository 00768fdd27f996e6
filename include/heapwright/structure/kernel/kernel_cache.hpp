// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The traits of a cache of equal objects, the figures of a cache, and the sizes of the general
// caches behind malloc. The four kernel designs (layers/kernel/) share them.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/structure/kernel/kernel_shapes.hpp>
#include <heapwright/structure/kernel/page_section.hpp>

#include <array>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>

namespace heapwright {

/// A cache of equal objects, as a subsystem requests it.
struct CacheTraits {
    const char* name = "";
    std::size_t size = 0;             ///< bytes of an object
    std::size_t align = minAlignment; ///< a power of two, at most a page
    /// Runs once on each object when its pages are taken.
    /// Pre: neither it nor the destructor uses the heap.
    void (*constructor)(void*) = nullptr;
    void (*destructor)(void*) = nullptr; ///< runs on each object when its pages are returned
    bool reclaimable = false;            ///< the contents can be dropped and created again

    [[nodiscard]] constexpr Mobility mobility() const noexcept {
        return reclaimable ? Mobility::reclaimable : Mobility::unmovable;
    }
    /// Whether its objects stay constructed between two uses.
    [[nodiscard]] constexpr bool keepsState() const noexcept {
        return constructor != nullptr || destructor != nullptr;
    }
};

/// The figures of a cache, as in a line of slabinfo.
struct CacheFigures {
    const char* name = "";
    std::size_t size = 0;    ///< bytes of an object
    std::size_t stride = 0;  ///< bytes from one object to the next
    std::size_t live = 0;    ///< objects in use
    std::size_t objects = 0; ///< objects in all slabs
    std::size_t slabs = 0;
    std::size_t pages = 0;
    std::size_t objectsPerSlab = 0;
    std::size_t pagesPerSlab = 0;
    /// Free objects that a processor may keep, if the design has such a limit.
    std::size_t limit = 0;
    std::size_t batch = 0;   ///< objects that move at once
    std::size_t shared = 0;  ///< batches that the processors share
    std::size_t waiting = 0; ///< free objects on their way between processors
    /// Objects freed on another processor than the one their slab served.
    std::uint64_t remoteFrees = 0;
};

/// The general caches: 16, 32, 64, 96, 128, 192 bytes, and powers of two up to `Largest`.
template <std::size_t Largest>
struct GeneralSizes {
    static_assert(std::has_single_bit(Largest) && Largest >= 256);
    static constexpr std::size_t largest = Largest;
    static constexpr std::size_t count =
        static_cast<std::size_t>(std::bit_width(Largest / 256)) + 6;

    static constexpr std::array<std::size_t, count> sizes = [] {
        std::array<std::size_t, count> table{16, 32, 64, 96, 128, 192};
        for (std::size_t index = 6; index < count; ++index) {
            table[index] = std::size_t{256} << (index - 6);
        }
        return table;
    }();

    /// The kernel's names.
    static constexpr std::array<const char*, 21> names = {
        "kmalloc-16",  "kmalloc-32",  "kmalloc-64",  "kmalloc-96",   "kmalloc-128",  "kmalloc-192",
        "kmalloc-256", "kmalloc-512", "kmalloc-1k",  "kmalloc-2k",   "kmalloc-4k",   "kmalloc-8k",
        "kmalloc-16k", "kmalloc-32k", "kmalloc-64k", "kmalloc-128k", "kmalloc-256k", "kmalloc-512k",
        "kmalloc-1M",  "kmalloc-2M",  "kmalloc-4M"};
    static_assert(count <= names.size());

    /// Pre: `size` is at most `largest`.
    [[nodiscard]] static constexpr std::size_t indexFor(std::size_t size) noexcept {
        if (size > 192) {
            return floorLog2(size - 1) + 1 - 8 + 6;
        }
        constexpr std::array<std::uint8_t, 13> upTo192 = {0, 0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 5};
        return upTo192[(size + 15) / 16];
    }

    /// The size of a request with an alignment: a power of two, whose objects are aligned to it.
    [[nodiscard]] static constexpr std::size_t alignedSize(std::size_t align,
                                                           std::size_t size) noexcept {
        const std::size_t least = size < align ? align : size;
        const bool rounds = align > minAlignment && least <= SIZE_MAX / 2 + 1;
        return rounds ? std::bit_ceil(least) : size; // there is no larger power of two
    }
};

/// Processors that state the alignment of what each of them writes.
template <class P>
concept SeparateProcessors = requires {
    { P::apart } -> std::convertible_to<std::size_t>;
};

/// The alignment of what one processor or one node of a cache writes: `Processors::apart`, if that
/// is stated.
template <class Processors>
inline constexpr std::size_t partAlignment = [] {
    if constexpr (SeparateProcessors<Processors>) {
        return std::size_t{Processors::apart};
    } else {
        return alignof(void*);
    }
}();

/// The common part of every design's cache, `Self`.
template <class Self>
struct CacheBase {
    CacheTraits traits{nullptr, 0, 0}; ///< all zero, so that a heap takes no room in a file
    SlabShape slab;
    std::atomic<std::size_t> references{0}; ///< number of requests for this cache; 0: unused
    Self* next = nullptr;                   ///< in the list of created caches
    std::atomic<std::size_t> slabs{0};

    /// The figures that do not depend on the processors.
    [[nodiscard]] CacheFigures figures() const noexcept {
        CacheFigures figures;
        figures.name = traits.name;
        figures.size = traits.size;
        figures.stride = slab.stride;
        figures.slabs = slabs.load(std::memory_order_relaxed);
        figures.objectsPerSlab = slab.objects;
        figures.pagesPerSlab = std::size_t{1} << slab.order;
        figures.objects = figures.slabs * slab.objects;
        figures.pages = figures.slabs << slab.order;
        return figures;
    }
};

/// Adds the counts of a cache's processors, each under its lock.
template <class Cache>
void addUses(Cache& cache, CacheFigures& figures) noexcept {
    std::size_t given = 0;
    for (auto& processor : cache.processors) {
        processor.lock.lock();
        figures.live += processor.taken;
        given += processor.given;
        figures.remoteFrees += processor.remoteFrees;
        processor.lock.unlock();
    }
    figures.live -= given;
}

/// The link in a free object to the next.
[[nodiscard]] inline void* nextObject(void* object, std::size_t link) noexcept {
    return *static_cast<void**>(forward(object, link));
}
inline void linkObject(void* object, std::size_t link, void* to) noexcept {
    ::new (forward(object, link)) void*(to);
}

/// A doubly linked list of slabs, linked through their descriptors.
struct SlabList {
    Page* first = nullptr;
    Page* last = nullptr;
    std::size_t count = 0;

    void addFront(Page& page) noexcept {
        page.previous = nullptr;
        page.next = first;
        (first != nullptr ? first->previous : last) = &page;
        first = &page;
        ++count;
    }
    void addBack(Page& page) noexcept {
        page.next = nullptr;
        page.previous = last;
        (last != nullptr ? last->next : first) = &page;
        last = &page;
        ++count;
    }
    void remove(Page& page) noexcept {
        (page.previous != nullptr ? page.previous->next : first) = page.next;
        (page.next != nullptr ? page.next->previous : last) = page.previous;
        --count;
    }
};

/// Slabs removed from all lists, which are returned after all locks are released.
class LeavingSlabs {
public:
    void add(Page& page) noexcept {
        page.next = first_;
        first_ = &page;
    }
    /// Removes and returns a slab; null if there is none.
    [[nodiscard]] Page* next() noexcept {
        Page* const page = first_;
        first_ = page == nullptr ? nullptr : page->next;
        return page;
    }

private:
    Page* first_ = nullptr;
};

/// Runs a constructor or destructor, if not null, on `count` objects from `start`.
inline void runOnObjects(void (*function)(void*), void* start, std::size_t count,
                         std::size_t stride) noexcept {
    for (std::size_t index = 0; function != nullptr && index < count; ++index) {
        function(forward(start, index * stride));
    }
}

} // namespace heapwright
