// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Caches as in SLAB. A slab is a block of pages with objects after a colour. The colour is an
// offset that differs between slabs, so that their first objects use different cache lines. A node
// keeps slabs on three lists: full, partial, free. Partial ones serve first. In front of them, each
// processor has an array of free objects, last in, first out, which is filled and emptied in
// batches. The processors of a node share one more array, through which batches move between
// processors. An object freed on another node returns to its slab at once, as without alien caches.
//
// Objects of a cache that keeps state stay constructed while they are free, so an index in front of
// them records the free ones. Other free objects are linked through themselves. Empty slabs are
// kept while the node's free objects are within a limit. The sizes of slabs, arrays and limits are
// computed as in Linux 6.1. There is no reaper that empties caches over time; `shrink` does so.
//
// Invariant: `used` of a slab counts all objects that are not on its own list. A processor's lock
// is taken before a node's. No node's lock is held while pages are taken or returned. A thread that
// waits under a processor's lock has left the cache consistent.
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
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapwright {

template <HeapSelector Processors, std::size_t Nodes, Lock Mutex>
struct SlabModel {
    static_assert(Processors::count <= 256, "a page's mark holds its last processor");
    static constexpr std::size_t largestGeneral = 4 * MiB;
    static constexpr bool merges = true;
    static constexpr std::size_t mostInArray = 120;
    static constexpr std::size_t mostShared = 8 * ((mostInArray + 1) / 2);
    using Latch = ForkLock<Mutex>;

    /// Free objects, the last in first out.
    template <std::size_t Most>
    struct ObjectArray {
        std::size_t count = 0;
        std::array<void*, Most> objects{};
    };

    struct alignas(partAlignment<Processors>) Processor {
        Latch lock;
        std::size_t taken = 0;
        std::size_t given = 0;
        std::uint64_t remoteFrees = 0;
        ObjectArray<mostInArray> array;
    };

    struct alignas(partAlignment<Processors>) Node {
        Latch lock;
        SlabList full;
        SlabList partial;
        SlabList free;
        std::size_t freeObjects = 0; ///< in its slabs
        ObjectArray<mostShared> shared;
        std::atomic<std::size_t> nextColour{0};
    };

    struct Cache : CacheBase<Cache> {
        ColouredShape shape;
        SlabTuning tuning{};
        std::size_t link = 0; ///< offset of the link in a free object
        /// Limit of free objects in a node before empty slabs are returned.
        std::size_t mostFree = 0;
        std::array<Node, Nodes> nodes;
        std::array<Processor, Processors::count> processors;
    };

    static void shape(Cache& cache, const CacheTraits& traits) noexcept {
        cache.traits = traits;
        const std::size_t word = sizeof(void*);
        const std::size_t stride = roundUp(std::max(traits.size, word), traits.align);
        const std::size_t present = Processors::present();
        cache.shape = slabShapeFor(stride, traits.keepsState(), traits.reclaimable);
        cache.slab = cache.shape;
        cache.tuning = slabTuningFor(traits.size, present);
        const std::size_t ofNode = std::max(present / Nodes, std::size_t{1});
        cache.mostFree = (1 + ofNode) * cache.tuning.batch + cache.slab.objects;
    }

    template <class Pages>
    [[nodiscard]] static void* take(Cache& cache, Pages& pages) noexcept {
        const std::size_t index = Processors::mine();
        Processor& mine = cache.processors[index];
        const Hold hold(mine.lock);
        if (mine.array.count == 0 && !refill(cache, mine, index, pages)) [[unlikely]] {
            return nullptr;
        }
        ++mine.taken;
        return mine.array.objects[--mine.array.count];
    }

    template <class Pages>
    static void put(Cache& cache, Page& page, void* object, Pages& pages) noexcept {
        const std::size_t index = Processors::mine();
        Processor& mine = cache.processors[index];
        const Hold hold(mine.lock);
        ++mine.given;
        mine.remoteFrees += page.mark != static_cast<std::uint8_t>(index) ? 1U : 0U;
        if constexpr (Nodes > 1) {
            if (PageSection::of(&page).node != nodeOfProcessor<Processors, Nodes>(index)) {
                giveToSlabs(cache, mine, &object, 1, pages);
                return;
            }
        }
        if (mine.array.count >= cache.tuning.limit) [[unlikely]] {
            flush(cache, mine, index, pages);
        }
        mine.array.objects[mine.array.count++] = object;
    }

    template <class Pages>
    static bool shrink(Cache& cache, Pages& pages) noexcept {
        const std::size_t before = cache.slabs;
        for (Processor& processor : cache.processors) {
            const Hold hold(processor.lock);
            flushAll(cache, processor, pages);
        }
        Processor& first = cache.processors[0];
        for (Node& node : cache.nodes) {
            const Hold hold(first.lock);
            while (takeShared(cache, first, node)) {
                flushAll(cache, first, pages);
            }
            LeavingSlabs leaving;
            {
                const HoldBelow holdNode(first.lock, node.lock);
                while (Page* const page = node.free.first) {
                    node.free.remove(*page);
                    node.freeObjects -= page->count;
                    leaving.add(*page);
                }
            }
            discard(cache, first, leaving, pages);
        }
        return cache.slabs < before;
    }

    [[nodiscard]] static CacheFigures figuresOf(Cache& cache) noexcept {
        CacheFigures figures = cache.figures();
        figures.limit = cache.tuning.limit;
        figures.batch = cache.tuning.batch;
        figures.shared = cache.tuning.shared;
        addUses(cache, figures);
        for (Node& node : cache.nodes) {
            const Hold hold(node.lock);
            figures.waiting += node.shared.count;
        }
        return figures;
    }

    /// The number of slabs of a node on all lists.
    [[nodiscard]] static std::size_t slabsOf(Cache& cache, std::size_t node) noexcept {
        Node& of = cache.nodes[node];
        const Hold hold(of.lock);
        return of.full.count + of.partial.count + of.free.count;
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
    using Index = std::uint16_t;

    [[nodiscard]] static Node& nodeOf(Cache& cache, const Page& page) noexcept {
        return cache.nodes[Nodes == 1 ? 0 : PageSection::of(&page).node];
    }

    // --- arrays, under the processor's lock ---

    /// Takes a batch from the shared array, from slabs, or from one new slab.
    template <class Pages>
    [[gnu::noinline]] static bool refill(Cache& cache, Processor& mine, std::size_t index,
                                         Pages& pages) noexcept {
        const std::size_t home = nodeOfProcessor<Processors, Nodes>(index);
        Node& node = cache.nodes[home];
        while (!takeShared(cache, mine, node) && !takeFromSlabs(cache, mine, index, node)) {
            Page* const page = newSlab(cache, mine, home, pages);
            if (page == nullptr) {
                return false;
            }
            cache.slabs.fetch_add(1, std::memory_order_relaxed);
            Node& its = nodeOf(cache, *page);
            {
                const HoldBelow hold(mine.lock, its.lock);
                its.freeObjects += page->count;
                its.free.addBack(*page);
            }
            if (takeFromSlabs(cache, mine, index, its)) {
                break; // otherwise other processors have taken all of it
            }
        }
        return true;
    }

    [[nodiscard]] static bool takeShared(Cache& cache, Processor& mine, Node& node) noexcept {
        const HoldBelow hold(mine.lock, node.lock);
        const std::size_t moved = std::min(cache.tuning.batch, node.shared.count);
        node.shared.count -= moved;
        std::memcpy(mine.array.objects.data(), node.shared.objects.data() + node.shared.count,
                    moved * sizeof(void*));
        mine.array.count = moved;
        return moved != 0;
    }

    /// From partial slabs, then from free ones.
    [[nodiscard]] static bool takeFromSlabs(Cache& cache, Processor& mine, std::size_t index,
                                            Node& node) noexcept {
        const HoldBelow hold(mine.lock, node.lock);
        auto& array = mine.array;
        while (array.count < cache.tuning.batch) {
            Page* page = node.partial.first;
            if (page != nullptr) {
                node.partial.remove(*page);
            } else if ((page = node.free.first) != nullptr) {
                node.free.remove(*page);
            } else {
                break;
            }
            page->mark = static_cast<std::uint8_t>(index); // the processor that it last served
            while (page->used < page->count && array.count < cache.tuning.batch) {
                array.objects[array.count++] = takeFromSlab(cache, node, *page);
            }
            (page->used == page->count ? node.full : node.partial).addFront(*page);
        }
        return array.count != 0;
    }

    /// Moves the oldest batch to the shared array if that has room, else to the slabs.
    template <class Pages>
    [[gnu::noinline]] static void flush(Cache& cache, Processor& mine, std::size_t index,
                                        Pages& pages) noexcept {
        const std::size_t batch = std::min(cache.tuning.batch, mine.array.count);
        Node& node = cache.nodes[nodeOfProcessor<Processors, Nodes>(index)];
        {
            const HoldBelow hold(mine.lock, node.lock);
            const std::size_t room = cache.tuning.shared * cache.tuning.batch - node.shared.count;
            const std::size_t moved = std::min(room, batch);
            if (moved != 0) {
                std::memcpy(node.shared.objects.data() + node.shared.count,
                            mine.array.objects.data(), moved * sizeof(void*));
                node.shared.count += moved;
                dropFirst(mine, moved);
                return;
            }
        }
        flushFirst(cache, mine, batch, pages);
    }

    template <class Pages>
    static void flushAll(Cache& cache, Processor& mine, Pages& pages) noexcept {
        flushFirst(cache, mine, mine.array.count, pages);
    }

    /// Removes the first objects from the array before it waits for a lock.
    template <class Pages>
    static void flushFirst(Cache& cache, Processor& mine, std::size_t count,
                           Pages& pages) noexcept {
        std::array<void*, mostInArray> leaving;
        std::memcpy(leaving.data(), mine.array.objects.data(), count * sizeof(void*));
        dropFirst(mine, count);
        giveToSlabs(cache, mine, leaving.data(), count, pages);
    }

    static void dropFirst(Processor& mine, std::size_t count) noexcept {
        mine.array.count -= count;
        std::memmove(mine.array.objects.data(), mine.array.objects.data() + count,
                     mine.array.count * sizeof(void*));
    }

    /// Returns each object to its slab, under the lock of its node. Superfluous empty slabs are
    /// returned.
    template <class Pages>
    static void giveToSlabs(Cache& cache, Processor& mine, void* const* objects, std::size_t count,
                            Pages& pages) noexcept {
        LeavingSlabs leaving;
        for (std::size_t each = 0; each < count;) {
            Node& node = nodeOf(cache, PageSection::blockAt(objects[each]));
            const HoldBelow hold(mine.lock, node.lock);
            do {
                giveToSlab(cache, node, objects[each], leaving);
                ++each;
            } while (each < count && &nodeOf(cache, PageSection::blockAt(objects[each])) == &node);
        }
        discard(cache, mine, leaving, pages);
    }

    // --- slabs, under the node's lock ---

    [[nodiscard]] static Index* indexOf(Page& page) noexcept {
        return static_cast<Index*>(page.objects); // the index starts there
    }
    [[nodiscard]] static void* firstObject(const Cache& cache, Page& page) noexcept {
        return forward(page.objects, cache.shape.index);
    }

    [[nodiscard]] static void* takeFromSlab(Cache& cache, Node& node, Page& page) noexcept {
        --node.freeObjects;
        const std::uint32_t nth = page.used++;
        if (cache.shape.index != 0) {
            return forward(firstObject(cache, page), indexOf(page)[nth] * cache.slab.stride);
        }
        void* const object = page.objects;
        page.objects = nextObject(object, cache.link);
        return object;
    }

    static void giveToSlab(Cache& cache, Node& node, void* object, LeavingSlabs& leaving) noexcept {
        Page& page = PageSection::blockAt(object);
        (page.used == page.count ? node.full : node.partial).remove(page);
        --page.used;
        if (cache.shape.index != 0) {
            const std::size_t offset = addressOf(object) - addressOf(firstObject(cache, page));
            indexOf(page)[page.used] = static_cast<Index>(offset / cache.slab.stride);
        } else {
            linkObject(object, cache.link, page.objects);
            page.objects = object;
        }
        ++node.freeObjects;
        if (page.used != 0) {
            node.partial.addBack(page);
        } else if (node.freeObjects > cache.mostFree) {
            node.freeObjects -= page.count;
            leaving.add(page);
        } else {
            node.free.addFront(page);
        }
    }

    // --- pages, under the processor's lock only ---

    template <class Pages>
    [[nodiscard]] static Page* newSlab(Cache& cache, Processor& mine, std::size_t home,
                                       Pages& pages) noexcept {
        Page* const page = [&] {
            const GoneBelow<Latch> below(mine.lock);
            return pages.takePages(cache.slab.order, cache.traits.mobility(), home);
        }();
        if (page == nullptr) {
            return nullptr;
        }
        const std::size_t stride = cache.slab.stride;
        const std::size_t colour =
            nodeOf(cache, *page).nextColour.fetch_add(1, std::memory_order_relaxed);
        const std::size_t step =
            std::max(ColouredShape::colourStep, std::min(stride & (0 - stride), bytesOfPage));
        page->holder = &cache;
        page->used = 0;
        page->count = static_cast<std::uint32_t>(cache.slab.objects);
        page->objects =
            forward(PageSection::addressOfPage(*page), colour % cache.shape.colours * step);
        void* const start = firstObject(cache, *page);
        runOnObjects(cache.traits.constructor, start, page->count, stride);
        for (std::uint32_t nth = 0; nth < page->count; ++nth) {
            if (cache.shape.index != 0) {
                indexOf(*page)[nth] = static_cast<Index>(nth);
            } else {
                void* const object = forward(start, nth * stride);
                linkObject(object, cache.link,
                           nth + 1 == page->count ? nullptr : forward(object, stride));
            }
        }
        return page;
    }

    template <class Pages>
    static void discard(Cache& cache, Processor& mine, LeavingSlabs& leaving,
                        Pages& pages) noexcept {
        while (Page* const page = leaving.next()) {
            if (cache.shape.index != 0) {
                runOnObjects(cache.traits.destructor, firstObject(cache, *page), page->count,
                             cache.slab.stride);
            }
            cache.slabs.fetch_sub(1, std::memory_order_relaxed);
            const GoneBelow<Latch> below(mine.lock);
            pages.givePages(*page);
        }
    }
};

} // namespace heapwright
