// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A cache of SLUB. A slab is only a block of pages. Its first free object, number of used objects
// and cache are in the page's descriptor, and free objects are linked through themselves.
//
// Each processor has an active slab, whose free objects it takes over as a list of its own. It
// keeps a few more slabs with room. Other slabs with room are on the list of their node, and full
// ones are on none. A node with many such slabs also serves processors of other nodes. A slab with
// `frozen` set belongs to a processor: other processors may free into it, but not move it. The size
// of a slab and the numbers of empty and kept slabs are computed as in Linux 6.1.
//
// Invariant: `used` of a slab counts all objects that are not on its own list, including those that
// a processor has taken over. A processor's lock is taken before a node's, and at most one of those
// is held. No node's lock is held while pages are taken or returned. A thread that waits under a
// processor's lock has left the cache consistent.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/structure/kernel/kernel_cache.hpp>
#include <heapwright/structure/kernel/page_section.hpp>
#include <heapwright/structure/thread/fork_lock.hpp>
#include <heapwright/structure/thread/heap_selector.hpp>
#include <heapwright/structure/thread/processor_selector.hpp>
#include <heapwright/sync/lock.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace heapwright {

template <HeapSelector Processors, std::size_t Nodes, Lock Mutex>
struct SlubModel {
    static_assert(Processors::count <= 128, "a page's mark holds its last processor");
    static constexpr std::size_t largestGeneral = 2 * bytesOfPage;
    static constexpr bool merges = true;
    using Latch = ForkLock<Mutex>;

    struct alignas(partAlignment<Processors>) Processor {
        Latch lock;
        Page* active = nullptr;
        void* free = nullptr;    ///< the free objects taken over from the active slab
        Page* partial = nullptr; ///< further slabs with room, linked by `next`
        std::size_t partials = 0;
        std::size_t taken = 0;         ///< objects allocated here
        std::size_t given = 0;         ///< objects freed here
        std::uint64_t remoteFrees = 0; ///< the part of `given` that last served another processor
    };

    struct alignas(partAlignment<Processors>) Node {
        Latch lock;
        SlabList partial;
    };

    struct Cache : CacheBase<Cache> {
        std::size_t link = 0;         ///< offset of the link in a free object
        std::size_t leastPartial = 0; ///< number of slabs with room that are kept, even if empty
        /// Limit of the slabs that a processor keeps beside the active one.
        std::size_t mostPartials = 0;
        std::array<Node, Nodes> nodes;
        std::array<Processor, Processors::count> processors;
    };

    static void shape(Cache& cache, const CacheTraits& traits) noexcept {
        cache.traits = traits;
        const std::size_t word = sizeof(void*);
        const std::size_t size = roundUp(std::max(traits.size, word), word);
        // An object that keeps state has its link behind it. Other objects have it in the middle,
        // where a short overflow of the neighbour does not reach it.
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
        const std::size_t index = Processors::mine();
        Processor& mine = cache.processors[index];
        const Hold hold(mine.lock);
        if (mine.free == nullptr && !refill(cache, mine, index, pages)) [[unlikely]] {
            return nullptr;
        }
        void* const object = mine.free;
        mine.free = nextObject(object, cache.link);
        ++mine.taken;
        return object;
    }

    template <class Pages>
    static void put(Cache& cache, Page& page, void* object, Pages& pages) noexcept {
        const std::size_t index = Processors::mine();
        Processor& mine = cache.processors[index];
        const Hold hold(mine.lock);
        ++mine.given;
        if (&page == mine.active) {
            linkObject(object, cache.link, mine.free);
            mine.free = object;
        } else {
            putIntoSlab(cache, mine, index, page, object, pages);
        }
    }

    template <class Pages>
    static bool shrink(Cache& cache, Pages& pages) noexcept {
        const std::size_t before = cache.slabs;
        for (Processor& processor : cache.processors) {
            const Hold hold(processor.lock);
            deactivate(cache, processor);
            unfreeze(cache, processor, detach(processor), pages);
        }
        Processor& first = cache.processors[0];
        for (Node& node : cache.nodes) {
            const Hold hold(first.lock);
            LeavingSlabs leaving;
            {
                const HoldBelow holdNode(first.lock, node.lock);
                Page* next = nullptr;
                for (Page* page = node.partial.first; page != nullptr; page = next) {
                    next = page->next;
                    if (page->used == 0) {
                        node.partial.remove(*page);
                        leaving.add(*page);
                    }
                }
            }
            discard(cache, first, leaving, pages);
        }
        return cache.slabs < before;
    }

    [[nodiscard]] static CacheFigures figuresOf(Cache& cache) noexcept {
        CacheFigures figures = cache.figures();
        addUses(cache, figures);
        return figures;
    }

    /// The number of slabs on the list of a node, the only list of slabs.
    [[nodiscard]] static std::size_t partialOf(Cache& cache, std::size_t node) noexcept {
        const Hold hold(cache.nodes[node].lock);
        return cache.nodes[node].partial.count;
    }

    /// Visits the locks in the order in which they are taken.
    template <class Body>
    static void forEachLock(Cache& cache, Body body) noexcept {
        for (Processor& processor : cache.processors) {
            body(processor.lock);
        }
        for (Node& node : cache.nodes) {
            body(node.lock);
        }
    }

private:
    using Hold = Guard<Latch>;
    using HoldBelow = GuardBelow<Latch, Latch>;
    /// A bit of a page's mark; the bits above hold the processor that it last served.
    static constexpr std::uint8_t frozen = 1;

    [[nodiscard]] static Node& nodeOf(Cache& cache, const Page& page) noexcept {
        return cache.nodes[Nodes == 1 ? 0 : PageSection::of(&page).node];
    }
    static void freeze(Page& page, std::size_t index) noexcept {
        page.mark = static_cast<std::uint8_t>(index << 1U | frozen);
    }
    static void thaw(Page& page) noexcept {
        page.mark = static_cast<std::uint8_t>(page.mark & ~unsigned{frozen});
    }

    // --- taking, under the processor's lock ---

    template <class Pages>
    [[gnu::noinline]] static bool refill(Cache& cache, Processor& mine, std::size_t index,
                                         Pages& pages) noexcept {
        const std::size_t home = nodeOfProcessor<Processors, Nodes>(index);
        if (takeActive(cache, mine) || takeKept(cache, mine) ||
            takePartial(cache, mine, index, cache.nodes[home], 0)) {
            return true;
        }
        for (std::size_t node = 0; Nodes > 1 && node < Nodes; ++node) {
            if (node != home &&
                takePartial(cache, mine, index, cache.nodes[node], cache.leastPartial)) {
                return true;
            }
        }
        Page* const page = newSlab(cache, mine, index, pages);
        if (page == nullptr) {
            return false;
        }
        cache.slabs.fetch_add(1, std::memory_order_relaxed);
        const HoldBelow hold(mine.lock, nodeOf(cache, *page).lock);
        mine.active = page;
        return takeOver(mine);
    }

    /// Takes over the objects that other processors freed into the active slab. If there are none,
    /// the slab becomes inactive.
    [[nodiscard]] static bool takeActive(Cache& cache, Processor& mine) noexcept {
        Page* const page = mine.active;
        if (page == nullptr) {
            return false;
        }
        const HoldBelow hold(mine.lock, nodeOf(cache, *page).lock);
        if (takeOver(mine)) {
            return true;
        }
        thaw(*page);
        mine.active = nullptr;
        return false;
    }

    /// Makes a kept slab the active one.
    [[nodiscard]] static bool takeKept(Cache& cache, Processor& mine) noexcept {
        Page* const page = mine.partial;
        if (page == nullptr) {
            return false;
        }
        const HoldBelow hold(mine.lock, nodeOf(cache, *page).lock);
        mine.partial = page->next;
        --mine.partials;
        mine.active = page;
        return takeOver(mine);
    }

    /// Makes the first slab of a node the active one and keeps some more, if the node has more than
    /// `least`.
    [[nodiscard]] static bool takePartial(Cache& cache, Processor& mine, std::size_t index,
                                          Node& node, std::size_t least) noexcept {
        const HoldBelow hold(mine.lock, node.lock);
        while (node.partial.count > least) {
            Page* const page = node.partial.first;
            node.partial.remove(*page);
            freeze(*page, index);
            if (mine.active == nullptr) {
                mine.active = page;
            } else {
                keep(mine, *page);
            }
            if (mine.partials >= cache.mostPartials / 2) {
                break;
            }
        }
        return takeOver(mine);
    }

    /// Takes over all free objects of the active slab; false if there are none.
    /// Pre: the lock of its node is held.
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

    static void keep(Processor& mine, Page& page) noexcept {
        page.next = mine.partial;
        mine.partial = &page;
        ++mine.partials;
    }

    template <class Pages>
    [[nodiscard]] static Page* newSlab(Cache& cache, Processor& mine, std::size_t index,
                                       Pages& pages) noexcept {
        const std::size_t home = nodeOfProcessor<Processors, Nodes>(index);
        const std::size_t least = pageOrderFor(cache.slab.stride);
        std::size_t order = cache.slab.order;
        Page* page = nullptr;
        {
            const GoneBelow<Latch> below(mine.lock);
            page = pages.takePages(order, cache.traits.mobility(), home);
            if (page == nullptr && least < order) {
                order = least;
                page = pages.takePages(order, cache.traits.mobility(), home);
            }
        }
        if (page == nullptr) {
            return nullptr;
        }
        const std::size_t count = (bytesOfPage << order) / cache.slab.stride;
        page->holder = &cache;
        freeze(*page, index);
        page->used = 0;
        page->count = static_cast<std::uint32_t>(count);
        void* const start = PageSection::addressOfPage(*page);
        page->objects = start;
        runOnObjects(cache.traits.constructor, start, count, cache.slab.stride);
        for (std::size_t nth = 0; nth < count; ++nth) {
            void* const object = forward(start, nth * cache.slab.stride);
            linkObject(object, cache.link,
                       nth + 1 == count ? nullptr : forward(object, cache.slab.stride));
        }
        return page;
    }

    // --- freeing, under the processor's lock ---

    template <class Pages>
    [[gnu::noinline]] static void putIntoSlab(Cache& cache, Processor& mine, std::size_t index,
                                              Page& page, void* object, Pages& pages) noexcept {
        LeavingSlabs leaving;
        bool wasFull = false;
        {
            Node& node = nodeOf(cache, page);
            const HoldBelow hold(mine.lock, node.lock);
            mine.remoteFrees += page.mark >> 1U != index ? 1U : 0U;
            wasFull = page.objects == nullptr;
            linkObject(object, cache.link, page.objects);
            page.objects = object;
            --page.used;
            if ((page.mark & frozen) != 0) {
                return; // the owner of the slab will find the object
            }
            if (wasFull) { // it is on no list
                freeze(page, index);
            } else if (page.used == 0 && node.partial.count >= cache.leastPartial) {
                node.partial.remove(page);
                leaving.add(page);
            }
        }
        if (wasFull) {
            Page* const before = mine.partials >= cache.mostPartials ? detach(mine) : nullptr;
            keep(mine, page);
            unfreeze(cache, mine, before, pages);
        } else {
            discard(cache, mine, leaving, pages);
        }
    }

    /// Removes and returns the slabs that a processor keeps, as a linked list.
    [[nodiscard]] static Page* detach(Processor& processor) noexcept {
        Page* const first = processor.partial;
        processor.partial = nullptr;
        processor.partials = 0;
        return first;
    }

    /// Moves slabs that a processor kept to their nodes' lists.
    template <class Pages>
    static void unfreeze(Cache& cache, Processor& processor, Page* first, Pages& pages) noexcept {
        LeavingSlabs leaving;
        while (Page* const page = first) {
            first = page->next;
            Node& node = nodeOf(cache, *page);
            const HoldBelow hold(processor.lock, node.lock);
            thaw(*page);
            if (page->used == 0 && node.partial.count >= cache.leastPartial) {
                leaving.add(*page);
            } else {
                node.partial.addBack(*page);
            }
        }
        discard(cache, processor, leaving, pages);
    }

    /// Returns the taken-over objects to the active slab and moves the slab to its list.
    static void deactivate(Cache& cache, Processor& processor) noexcept {
        Page* const page = processor.active;
        if (page == nullptr) {
            return;
        }
        Node& node = nodeOf(cache, *page);
        const HoldBelow hold(processor.lock, node.lock);
        while (void* const object = processor.free) {
            processor.free = nextObject(object, cache.link);
            linkObject(object, cache.link, page->objects);
            page->objects = object;
            --page->used;
        }
        processor.active = nullptr;
        thaw(*page);
        if (page->objects != nullptr) {
            node.partial.addBack(*page);
        }
    }

    // --- pages, under the processor's lock only ---

    template <class Pages>
    static void discard(Cache& cache, Processor& mine, LeavingSlabs& leaving,
                        Pages& pages) noexcept {
        while (Page* const page = leaving.next()) {
            runOnObjects(cache.traits.destructor, PageSection::addressOfPage(*page), page->count,
                         cache.slab.stride);
            cache.slabs.fetch_sub(1, std::memory_order_relaxed);
            const GoneBelow<Latch> below(mine.lock);
            pages.givePages(*page);
        }
    }
};

} // namespace heapwright
