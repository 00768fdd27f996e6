// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A cache of SLUB. A slab is a block of pages and nothing else: the first free object, how many are
// used and whose it is stand in the page's descriptor, and the list runs through the free objects.
//
// Each processor has an active slab, whose free objects it takes over as a list of its own, and a
// few more slabs with room; the others that have room are on the list of the node; full ones are
// on none. A slab with `frozen` set is a processor's: others may free into it, but not move it.
// How large a slab is, how many empty ones stay and how many slabs a processor keeps beside the
// active one are computed as in Linux 6.1.
// Invariant: `used` of a slab counts what is not on its own list; what a processor has taken over
// counts as used. Locks: a processor's before a node's.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/structure/heap_choice.hpp>
#include <heapwright/structure/kernel_cache.hpp>
#include <heapwright/structure/page_section.hpp>
#include <heapwright/sync/lock.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// The size of a slab: the smallest that wastes a sixteenth at most and has enough objects for the
/// processors to go on for a while; then more waste is borne, then fewer objects.
[[nodiscard]] constexpr SlabShape slubShapeFor(std::size_t stride,
                                               std::size_t processors) noexcept {
    constexpr std::size_t mostOrder = 3;
    const auto make = [stride](std::size_t order) {
        return SlabShape{stride, order, (bytesOfPage << order) / stride};
    };
    const auto orderWith = [stride](std::size_t objects, std::size_t fraction) {
        for (std::size_t order = pageOrderFor(objects * stride); order <= mostOrder; ++order) {
            const std::size_t bytes = bytesOfPage << order;
            if (bytes % stride <= bytes / fraction) {
                return order;
            }
        }
        return mostOrder + 1;
    };
    const std::size_t most = make(mostOrder).objects;
    std::size_t least = 4 * (static_cast<std::size_t>(std::bit_width(processors)) + 1);
    for (least = std::min(least, most); least > 1; --least) {
        for (std::size_t fraction = 16; fraction >= 4; fraction /= 2) {
            const std::size_t order = orderWith(least, fraction);
            if (order <= mostOrder) {
                return make(order);
            }
        }
    }
    return make(pageOrderFor(stride));
}

template <HeapChoice Processors, class Mutex>
struct SlubModel {
    static constexpr std::size_t largestGeneral = 2 * bytesOfPage;
    static constexpr bool merges = true;

    struct Processor {
        Mutex lock;
        Page* active = nullptr;
        void* free = nullptr;    ///< what it has taken over from the active slab
        Page* partial = nullptr; ///< more slabs with room, by `next`
        std::size_t partials = 0;
        std::size_t taken = 0;         ///< objects given out here
        std::size_t given = 0;         ///< objects freed here
        std::uint64_t remoteFrees = 0; ///< of which not into the active slab
    };

    struct Cache : CacheBase<Cache> {
        std::size_t link = 0;         ///< where in a free object the next one stands
        std::size_t leastPartial = 0; ///< so many slabs with room stay, though they be empty
        std::size_t mostPartials = 0; ///< so many slabs a processor keeps beside the active one
        Mutex lock;                   ///< the node's
        SlabList partial;
        std::array<Processor, Processors::count> processors;
    };

    static void shape(Cache& cache, const CacheTraits& traits) noexcept {
        cache.traits = traits;
        const std::size_t word = sizeof(void*);
        const std::size_t size = roundUp(std::max(traits.size, word), word);
        // What keeps its state has the link behind it, other objects in their middle: an overflow
        // from the neighbour does not reach it there.
        cache.link = traits.keepsState() ? size : roundDown(size / 2, word);
        const std::size_t whole = traits.keepsState() ? size + word : size;
        cache.slab = slubShapeFor(roundUp(whole, traits.align), Processors::present());
        const std::size_t stride = cache.slab.stride;
        cache.leastPartial = std::clamp(floorLog2(stride) / 2, std::size_t{5}, std::size_t{10});
        const std::size_t objects = stride >= bytesOfPage ? 6
                                    : stride >= 1024      ? 24
                                    : stride >= 256       ? 52
                                                          : 120;
        cache.mostPartials = (objects * 2 + cache.slab.objects - 1) / cache.slab.objects;
    }

    template <class Pages>
    [[nodiscard]] static void* take(Cache& cache, Pages& pages) noexcept {
        Processor& mine = cache.processors[Processors::mine()];
        const Hold hold(mine.lock);
        if (mine.free == nullptr && !refill(cache, mine, pages)) [[unlikely]] {
            return nullptr;
        }
        void* const object = mine.free;
        mine.free = nextObject(object, cache.link);
        ++mine.taken;
        return object;
    }

    template <class Pages>
    static void put(Cache& cache, Page& page, void* object, Pages& pages) noexcept {
        Processor& mine = cache.processors[Processors::mine()];
        const Hold hold(mine.lock);
        ++mine.given;
        if (&page == mine.active) {
            linkObject(object, cache.link, mine.free);
            mine.free = object;
        } else {
            putIntoSlab(cache, mine, page, object, pages);
        }
    }

    template <class Pages>
    static bool shrink(Cache& cache, Pages& pages) noexcept {
        const std::size_t before = cache.slabs;
        for (Processor& processor : cache.processors) {
            const Hold hold(processor.lock);
            const Hold holdNode(cache.lock);
            deactivate(cache, processor);
            unfreeze(cache, processor, pages);
        }
        const Hold hold(cache.lock);
        Page* next = nullptr;
        for (Page* page = cache.partial.first; page != nullptr; page = next) {
            next = page->next;
            if (page->used == 0) {
                cache.partial.remove(*page);
                discard(cache, *page, pages);
            }
        }
        return cache.slabs < before;
    }

    [[nodiscard]] static CacheFigures figuresOf(Cache& cache) noexcept {
        CacheFigures figures = cache.figures();
        std::size_t given = 0;
        for (Processor& processor : cache.processors) {
            const Hold hold(processor.lock);
            figures.live += processor.taken;
            given += processor.given;
            figures.remoteFrees += processor.remoteFrees;
        }
        figures.live -= given;
        return figures;
    }

    template <class Body>
    static void forEachLock(Cache& cache, Body body) noexcept {
        for (Processor& processor : cache.processors) {
            body(processor.lock);
        }
        body(cache.lock);
    }

private:
    using Hold = Guard<Mutex>;
    static constexpr std::uint8_t frozen = 1; ///< in a page's mark

    // --- taking, under the processor's lock ---

    template <class Pages>
    [[gnu::noinline]] static bool refill(Cache& cache, Processor& mine, Pages& pages) noexcept {
        {
            const Hold hold(cache.lock);
            if (takeOver(mine)) {
                return true;
            }
            if (mine.active != nullptr) { // full: nobody's from now on
                mine.active->mark = 0;
                mine.active = nullptr;
            }
            if (mine.partial != nullptr) {
                mine.active = mine.partial;
                mine.partial = mine.active->next;
                --mine.partials;
                return takeOver(mine);
            }
            if (takePartial(cache, mine)) {
                return takeOver(mine);
            }
        }
        Page* const page = newSlab(cache, pages);
        if (page == nullptr) {
            return false;
        }
        const Hold hold(cache.lock);
        ++cache.slabs;
        mine.active = page;
        return takeOver(mine);
    }

    /// All that is free in the active slab becomes the processor's; false if there is nothing.
    [[nodiscard]] static bool takeOver(Processor& mine) noexcept {
        Page* const page = mine.active;
        if (page == nullptr || page->objects == nullptr) {
            return false;
        }
        mine.free = page->objects;
        page->objects = nullptr;
        page->used = page->count;
        return true;
    }

    /// The first slab of the node becomes the active one; some more the processor's.
    [[nodiscard]] static bool takePartial(Cache& cache, Processor& mine) noexcept {
        while (Page* const page = cache.partial.first) {
            cache.partial.remove(*page);
            page->mark = frozen;
            if (mine.active == nullptr) {
                mine.active = page;
            } else {
                page->next = mine.partial;
                mine.partial = page;
                ++mine.partials;
            }
            if (mine.partials >= cache.mostPartials / 2) {
                break;
            }
        }
        return mine.active != nullptr;
    }

    template <class Pages>
    [[nodiscard]] static Page* newSlab(Cache& cache, Pages& pages) noexcept {
        std::size_t order = cache.slab.order;
        Page* page = pages.takePages(order, cache.traits.mobility(), 0);
        if (page == nullptr && pageOrderFor(cache.slab.stride) < order) {
            order = pageOrderFor(cache.slab.stride);
            page = pages.takePages(order, cache.traits.mobility(), 0);
        }
        if (page == nullptr) {
            return nullptr;
        }
        const std::size_t count = (bytesOfPage << order) / cache.slab.stride;
        page->holder = &cache;
        page->mark = frozen;
        page->used = 0;
        page->count = static_cast<std::uint32_t>(count);
        void* const start = PageSection::addressOfPage(*page);
        page->objects = start;
        runOnObjects(cache.traits.constructor, start, count, cache.slab.stride);
        for (std::size_t index = 0; index < count; ++index) {
            void* const object = forward(start, index * cache.slab.stride);
            linkObject(object, cache.link,
                       index + 1 == count ? nullptr : forward(object, cache.slab.stride));
        }
        return page;
    }

    // --- freeing, under the processor's lock ---

    template <class Pages>
    [[gnu::noinline]] static void putIntoSlab(Cache& cache, Processor& mine, Page& page,
                                              void* object, Pages& pages) noexcept {
        ++mine.remoteFrees;
        const Hold hold(cache.lock);
        void* const before = page.objects;
        linkObject(object, cache.link, before);
        page.objects = object;
        --page.used;
        if (page.mark == frozen) {
            return; // whose it is will find it
        }
        if (before == nullptr) { // it was full, and on no list
            if (mine.partials >= cache.mostPartials) {
                unfreeze(cache, mine, pages);
            }
            page.mark = frozen;
            page.next = mine.partial;
            mine.partial = &page;
            ++mine.partials;
        } else if (page.used == 0 && cache.partial.count >= cache.leastPartial) {
            cache.partial.remove(page);
            discard(cache, page, pages);
        }
    }

    /// The slabs that a processor keeps go to the node's list; under both locks.
    template <class Pages>
    static void unfreeze(Cache& cache, Processor& processor, Pages& pages) noexcept {
        while (Page* const page = processor.partial) {
            processor.partial = page->next;
            --processor.partials;
            page->mark = 0;
            if (page->used == 0 && cache.partial.count >= cache.leastPartial) {
                discard(cache, *page, pages);
            } else {
                cache.partial.addBack(*page);
            }
        }
    }

    /// The active slab gets back what was taken over, and goes where it belongs; under both locks.
    static void deactivate(Cache& cache, Processor& processor) noexcept {
        Page* const page = processor.active;
        if (page == nullptr) {
            return;
        }
        while (void* const object = processor.free) {
            processor.free = nextObject(object, cache.link);
            linkObject(object, cache.link, page->objects);
            page->objects = object;
            --page->used;
        }
        processor.active = nullptr;
        page->mark = 0;
        if (page->objects != nullptr) {
            cache.partial.addBack(*page);
        }
    }

    /// Under the node's lock; the slab is on no list.
    template <class Pages>
    static void discard(Cache& cache, Page& page, Pages& pages) noexcept {
        runOnObjects(cache.traits.destructor, PageSection::addressOfPage(page), page.count,
                     cache.slab.stride);
        --cache.slabs;
        pages.givePages(page);
    }
};

} // namespace heapwright
