// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Caches as in SLQB: a queue of free objects for each processor and cache, last in, first out. A
// queue that grows beyond a limit returns a batch to the slabs, and an empty slab is returned to
// the pages at once. Each slab belongs to the processor that took its pages.
//
// An object freed on another processor is collected there until there are enough. Then each goes to
// a list beside its owner's queue, and the owner is notified. The owner takes that list over when
// its own queue is empty. No queue is thus accessed by two processors. Limits and batches are
// computed as in the patch for Linux 2.6.30 (Piggin 2009).
//
// Invariant: `used` of a slab counts all objects that are not on its own list, including those in
// queues. A processor's lock is taken before that of a returned list. A thread that waits under a
// processor's lock has left its queue and slabs consistent (structure/thread/fork_lock.hpp). On a
// machine with several memory nodes, a processor's slabs are of its own node.
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

namespace heapwright {

template <HeapSelector Processors, std::size_t Nodes, Lock Mutex>
struct SlqbModel {
    static_assert(Processors::count <= 256, "a page's mark holds its processor");
    static constexpr std::size_t largestGeneral = 4 * MiB;
    static constexpr bool merges = false; ///< each cache serves one subsystem
    using Latch = ForkLock<Mutex>;

    /// Objects linked one to the next.
    struct Queue {
        void* first = nullptr;
        void* last = nullptr;
        std::size_t count = 0;
    };

    struct alignas(partAlignment<Processors>) Processor {
        Latch lock;
        Queue free;
        SlabList partial; ///< its slabs with free objects
        Queue remote;     ///< objects freed here that belong to other processors
        std::size_t taken = 0;
        std::size_t given = 0;
        std::uint64_t remoteFrees = 0;

        alignas(partAlignment<Processors>) Latch returnedLock;
        Queue returned; ///< its own objects that other processors freed
        std::atomic<bool> toldToLook{false};
    };

    struct Cache : CacheBase<Cache> {
        std::size_t link = 0;  ///< offset of the link in a free object
        std::size_t batch = 0; ///< number of objects that move at once
        std::size_t most = 0;  ///< limit of a queue
        std::array<Processor, Processors::count> processors;
    };

    static void shape(Cache& cache, const CacheTraits& traits) noexcept {
        cache.traits = traits;
        const std::size_t word = sizeof(void*);
        const std::size_t size = roundUp(std::max(traits.size, word), word);
        cache.link = traits.keepsState() ? size : 0;
        const std::size_t stride = roundUp(traits.keepsState() ? size + word : size, traits.align);
        cache.slab = slqbShapeFor(stride);
        cache.batch = std::max(4 * bytesOfPage / stride,
                               std::min(std::size_t{256}, 64 * bytesOfPage / stride));
        cache.batch = std::max(cache.batch, std::size_t{1});
        cache.most = 4 * cache.batch;
    }

    template <class Pages>
    [[nodiscard]] static void* take(Cache& cache, Pages& pages) noexcept {
        Processor& mine = cache.processors[Processors::mine()];
        const Hold hold(mine.lock);
        if (mine.free.count == 0 && mine.toldToLook.load(std::memory_order_relaxed)) {
            claimReturned(cache, mine);
        }
        void* const object =
            mine.free.count != 0 ? pop(cache, mine.free) : takeFromSlab(cache, mine, pages);
        mine.taken += object != nullptr ? 1U : 0U;
        return object;
    }

    template <class Pages>
    static void put(Cache& cache, Page& page, void* object, Pages& pages) noexcept {
        const std::size_t index = Processors::mine();
        Processor& mine = cache.processors[index];
        const Hold hold(mine.lock);
        ++mine.given;
        if (page.mark == index) {
            push(cache, mine.free, object);
            if (mine.free.count > cache.most) [[unlikely]] {
                flush(cache, mine, cache.batch, pages);
            }
            return;
        }
        ++mine.remoteFrees;
        push(cache, mine.remote, object);
        if (mine.remote.count > cache.batch) [[unlikely]] {
            handOver(cache, mine);
        }
    }

    template <class Pages>
    static bool shrink(Cache& cache, Pages& pages) noexcept {
        const std::size_t before = cache.slabs;
        for (Processor& processor : cache.processors) {
            const Hold hold(processor.lock);
            handOver(cache, processor);
        }
        for (Processor& processor : cache.processors) {
            const Hold hold(processor.lock);
            claimReturned(cache, processor);
            flush(cache, processor, processor.free.count, pages);
        }
        return cache.slabs < before;
    }

    [[nodiscard]] static CacheFigures figuresOf(Cache& cache) noexcept {
        CacheFigures figures = cache.figures();
        figures.limit = cache.most;
        figures.batch = cache.batch;
        addUses(cache, figures);
        for (Processor& processor : cache.processors) {
            {
                const Hold hold(processor.lock);
                figures.waiting += processor.remote.count;
            }
            const Hold hold(processor.returnedLock);
            figures.waiting += processor.returned.count;
        }
        return figures;
    }

    /// Visits the locks in the order in which they are taken.
    template <class Body>
    static void forEachLock(Cache& cache, Body body) noexcept {
        for (Processor& processor : cache.processors) {
            body(processor.lock);
        }
        for (Processor& processor : cache.processors) {
            body(processor.returnedLock);
        }
    }

private:
    using Hold = Guard<Latch>;
    using HoldBelow = GuardBelow<Latch, Latch>;

    // --- queues ---

    static void push(const Cache& cache, Queue& queue, void* object) noexcept {
        linkObject(object, cache.link, queue.first);
        queue.last = queue.first == nullptr ? object : queue.last;
        queue.first = object;
        ++queue.count;
    }

    [[nodiscard]] static void* pop(const Cache& cache, Queue& queue) noexcept {
        void* const object = queue.first;
        queue.first = nextObject(object, cache.link);
        queue.last = queue.first == nullptr ? nullptr : queue.last;
        --queue.count;
        return object;
    }

    // --- under the processor's lock ---

    /// Appends the objects that other processors have freed to the processor's own queue.
    static void claimReturned(Cache& cache, Processor& mine) noexcept {
        const HoldBelow hold(mine.lock, mine.returnedLock);
        mine.toldToLook.store(false, std::memory_order_relaxed);
        if (mine.returned.count == 0) {
            return;
        }
        if (mine.free.count == 0) {
            mine.free = mine.returned;
        } else {
            linkObject(mine.free.last, cache.link, mine.returned.first);
            mine.free.last = mine.returned.last;
            mine.free.count += mine.returned.count;
        }
        mine.returned = Queue{};
    }

    /// Hands the objects of other processors to their owners.
    [[gnu::noinline]] static void handOver(Cache& cache, Processor& mine) noexcept {
        while (mine.remote.count != 0) {
            void* const object = pop(cache, mine.remote);
            Processor& owner = cache.processors[PageSection::blockAt(object).mark];
            const HoldBelow hold(mine.lock, owner.returnedLock);
            push(cache, owner.returned, object);
            if (owner.returned.count == 1 || owner.returned.count >= cache.batch) {
                owner.toldToLook.store(true, std::memory_order_relaxed);
            }
        }
    }

    template <class Pages>
    [[gnu::noinline]] static void* takeFromSlab(Cache& cache, Processor& mine,
                                                Pages& pages) noexcept {
        Page* page = mine.partial.first;
        if (page == nullptr) {
            page = newSlab(cache, mine, pages);
            if (page == nullptr) {
                return nullptr;
            }
            mine.partial.addFront(*page);
        }
        void* const object = page->objects;
        page->objects = nextObject(object, cache.link);
        if (++page->used == page->count) {
            mine.partial.remove(*page);
        }
        return object;
    }

    template <class Pages>
    [[gnu::noinline]] static void flush(Cache& cache, Processor& mine, std::size_t count,
                                        Pages& pages) noexcept {
        for (; count > 0; --count) {
            void* const object = pop(cache, mine.free);
            Page& page = PageSection::blockAt(object);
            linkObject(object, cache.link, page.objects);
            page.objects = object;
            if (page.used-- == page.count) {
                mine.partial.addBack(page);
            }
            if (page.used == 0) {
                mine.partial.remove(page);
                discard(cache, mine, page, pages);
            }
        }
    }

    template <class Pages>
    [[nodiscard]] static Page* newSlab(Cache& cache, Processor& mine, Pages& pages) noexcept {
        const auto index = static_cast<std::size_t>(&mine - cache.processors.data());
        Page* const page = [&] {
            const GoneBelow<Latch> below(mine.lock);
            return pages.takePages(cache.slab.order, cache.traits.mobility(),
                                   nodeOfProcessor<Processors, Nodes>(index));
        }();
        if (page == nullptr) {
            return nullptr;
        }
        const std::size_t stride = cache.slab.stride;
        page->holder = &cache;
        page->mark = static_cast<std::uint8_t>(index);
        page->used = 0;
        page->count = static_cast<std::uint32_t>(cache.slab.objects);
        page->objects = PageSection::addressOfPage(*page);
        runOnObjects(cache.traits.constructor, page->objects, page->count, stride);
        for (std::uint32_t nth = 0; nth < page->count; ++nth) {
            void* const object = forward(page->objects, nth * stride);
            linkObject(object, cache.link,
                       nth + 1 == page->count ? nullptr : forward(object, stride));
        }
        cache.slabs.fetch_add(1, std::memory_order_relaxed);
        return page;
    }

    template <class Pages>
    static void discard(Cache& cache, Processor& mine, Page& page, Pages& pages) noexcept {
        runOnObjects(cache.traits.destructor, PageSection::addressOfPage(page), page.count,
                     cache.slab.stride);
        cache.slabs.fetch_sub(1, std::memory_order_relaxed);
        const GoneBelow<Latch> below(mine.lock);
        pages.givePages(page);
    }
};

} // namespace heapwright
