// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Caches as SLAB has them. A slab is a block of pages with objects, behind a colour that shifts
// them from slab to slab, so that not all first objects fall on the same cache lines. A node keeps
// slabs on three lists: full, partial, free; partial ones serve first. Before that each processor
// has an array of free objects, the last in first out, filled and emptied by batches, and all share
// another, through which objects go from processor to processor by the batch.
//
// Objects of a cache that keeps state stay constructed while they are free, so which are free
// stands in an index in front of them; others are linked through themselves. Empty slabs stay while
// the free objects of the node are no more than a limit. Sizes of slabs, arrays and limits are
// computed as in Linux 6.1; without the reaper that empties caches over time: `shrink` does it.
// Invariant: `used` of a slab counts what is not on its own list; what is in arrays counts as used.
// Locks: a processor's before the node's.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/structure/heap_choice.hpp>
#include <heapwright/structure/kernel_cache.hpp>
#include <heapwright/structure/page_section.hpp>
#include <heapwright/sync/lock.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapwright {

/// How much an array of a processor holds, and how much moves at a time.
struct SlabTuning {
    std::size_t limit;
    std::size_t batch;
    std::size_t shared; ///< batches in the array that the processors share
};

[[nodiscard]] constexpr SlabTuning slabTuningFor(std::size_t size,
                                                 std::size_t processors) noexcept {
    const std::size_t limit = size > 131072        ? 1
                              : size > bytesOfPage ? 8
                              : size > 1024        ? 24
                              : size > 256         ? 54
                                                   : 120;
    return {limit, (limit + 1) / 2, size <= bytesOfPage && processors > 1 ? 8U : 0U};
}

/// How objects lie in a slab of SLAB: behind a colour and, if `index` is not 0, an index of as many
/// bytes.
struct ColouredShape : SlabShape {
    std::size_t index = 0;
    std::size_t colours = 1; ///< how many different beginnings there are

    static constexpr std::size_t colourStep = 64;
};

/// The smallest block that wastes an eighth at most, of two pages if one object fits.
[[nodiscard]] constexpr ColouredShape slabShapeFor(std::size_t stride, bool indexed) noexcept {
    constexpr std::size_t mostOrder = 1;
    for (std::size_t order = pageOrderFor(stride);; ++order) {
        const std::size_t bytes = bytesOfPage << order;
        const std::size_t entry = indexed ? sizeof(std::uint16_t) : 0;
        std::size_t objects = bytes / (stride + entry);
        const auto indexOf = [entry, stride](std::size_t count) {
            return roundUp(count * entry, std::min(stride & (0 - stride), bytesOfPage));
        };
        while (objects > 0 && indexOf(objects) + objects * stride > bytes) {
            --objects;
        }
        if (objects == 0) {
            continue;
        }
        const std::size_t left = bytes - indexOf(objects) - objects * stride;
        if (order >= mostOrder || left * 8 <= bytes) {
            // A colour must keep the objects' alignment.
            const std::size_t step =
                std::max(ColouredShape::colourStep, std::min(stride & (0 - stride), bytesOfPage));
            return {{stride, order, objects}, indexOf(objects), left / step + 1};
        }
    }
}

template <HeapChoice Processors, class Mutex>
struct SlabModel {
    static constexpr std::size_t largestGeneral = 4 * MiB;
    static constexpr bool merges = true;
    static constexpr std::size_t mostInArray = 120;

    /// Free objects, the last in first out.
    template <std::size_t Most>
    struct ObjectArray {
        std::size_t count = 0;
        std::array<void*, Most> objects{};
    };

    struct Processor {
        Mutex lock;
        std::size_t taken = 0;
        std::size_t given = 0;
        std::uint64_t remoteFrees = 0;
        ObjectArray<mostInArray> array;
    };

    struct Cache : CacheBase<Cache> {
        ColouredShape shape;
        SlabTuning tuning{};
        std::size_t link = 0;        ///< where in a free object the next one stands
        std::size_t mostFree = 0;    ///< with more free objects empty slabs go back
        std::size_t freeObjects = 0; ///< of all slabs
        std::size_t nextColour = 0;
        Mutex lock; ///< the node's
        SlabList full;
        SlabList partial;
        SlabList free;
        ObjectArray<8 * (mostInArray + 1) / 2> shared;
        std::array<Processor, Processors::count> processors;
    };

    static void shape(Cache& cache, const CacheTraits& traits) noexcept {
        cache.traits = traits;
        const std::size_t word = sizeof(void*);
        const std::size_t stride = roundUp(std::max(traits.size, word), traits.align);
        const std::size_t present = Processors::present();
        cache.shape = slabShapeFor(stride, traits.keepsState());
        cache.slab = cache.shape;
        cache.tuning = slabTuningFor(traits.size, present);
        cache.mostFree = (1 + present) * cache.tuning.batch + cache.slab.objects;
    }

    template <class Pages>
    [[nodiscard]] static void* take(Cache& cache, Pages& pages) noexcept {
        Processor& mine = cache.processors[Processors::mine()];
        const Hold hold(mine.lock);
        if (mine.array.count == 0 && !refill(cache, mine, pages)) [[unlikely]] {
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
        if (mine.array.count >= cache.tuning.limit) [[unlikely]] {
            flush(cache, mine, pages);
        }
        mine.array.objects[mine.array.count++] = object;
    }

    template <class Pages>
    static bool shrink(Cache& cache, Pages& pages) noexcept {
        const std::size_t before = cache.slabs;
        for (Processor& processor : cache.processors) {
            const Hold hold(processor.lock);
            const Hold holdNode(cache.lock);
            while (processor.array.count != 0) {
                giveToSlab(cache, processor.array.objects[--processor.array.count], pages);
            }
        }
        const Hold hold(cache.lock);
        while (cache.shared.count != 0) {
            giveToSlab(cache, cache.shared.objects[--cache.shared.count], pages);
        }
        while (cache.free.first != nullptr) {
            Page& page = *cache.free.first;
            cache.free.remove(page);
            cache.freeObjects -= page.count;
            discard(cache, page, pages);
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
    using Index = std::uint16_t;

    // --- arrays, under the processor's lock ---

    /// A batch from the shared array, or from slabs, or from one more slab.
    template <class Pages>
    [[gnu::noinline]] static bool refill(Cache& cache, Processor& mine, Pages& pages) noexcept {
        const std::size_t batch = cache.tuning.batch;
        {
            const Hold hold(cache.lock);
            if (cache.shared.count != 0) {
                const std::size_t moved = std::min(batch, cache.shared.count);
                cache.shared.count -= moved;
                std::memcpy(mine.array.objects.data(),
                            cache.shared.objects.data() + cache.shared.count,
                            moved * sizeof(void*));
                mine.array.count = moved;
                return true;
            }
            if (takeFromSlabs(cache, mine, batch)) {
                return true;
            }
        }
        Page* const page = newSlab(cache, pages);
        if (page == nullptr) {
            return false;
        }
        const Hold hold(cache.lock);
        ++cache.slabs;
        cache.freeObjects += page->count;
        cache.free.addBack(*page);
        return takeFromSlabs(cache, mine, batch);
    }

    /// From partial slabs, then from free ones.
    [[nodiscard]] static bool takeFromSlabs(Cache& cache, Processor& mine,
                                            std::size_t batch) noexcept {
        auto& array = mine.array;
        while (array.count < batch) {
            Page* page = cache.partial.first;
            if (page != nullptr) {
                cache.partial.remove(*page);
            } else if ((page = cache.free.first) != nullptr) {
                cache.free.remove(*page);
            } else {
                break;
            }
            const auto processor = static_cast<std::uint8_t>(&mine - cache.processors.data());
            page->mark = processor; // for whom it last served
            while (page->used < page->count && array.count < batch) {
                array.objects[array.count++] = takeFromSlab(cache, *page);
            }
            (page->used == page->count ? cache.full : cache.partial).addFront(*page);
        }
        return array.count != 0;
    }

    /// A batch, the first that came, to the shared array if it has room, else to the slabs.
    template <class Pages>
    [[gnu::noinline]] static void flush(Cache& cache, Processor& mine, Pages& pages) noexcept {
        auto& array = mine.array;
        const std::size_t batch = std::min(cache.tuning.batch, array.count);
        const Hold hold(cache.lock);
        const std::size_t room = cache.tuning.shared * cache.tuning.batch - cache.shared.count;
        const std::size_t moved = std::min(room, batch);
        if (moved != 0) {
            std::memcpy(cache.shared.objects.data() + cache.shared.count, array.objects.data(),
                        moved * sizeof(void*));
            cache.shared.count += moved;
        } else {
            for (std::size_t each = 0; each < batch; ++each) {
                giveToSlab(cache, array.objects[each], pages);
            }
        }
        const std::size_t gone = moved != 0 ? moved : batch;
        array.count -= gone;
        std::memmove(array.objects.data(), array.objects.data() + gone,
                     array.count * sizeof(void*));
    }

    // --- slabs, under the node's lock ---

    [[nodiscard]] static Index* indexOf(Page& page) noexcept {
        return static_cast<Index*>(page.objects); // where the index is, it stands there
    }
    [[nodiscard]] static void* firstObject(const Cache& cache, Page& page) noexcept {
        return forward(page.objects, cache.shape.index);
    }

    [[nodiscard]] static void* takeFromSlab(Cache& cache, Page& page) noexcept {
        --cache.freeObjects;
        const std::uint32_t nth = page.used++;
        if (cache.shape.index != 0) {
            return forward(firstObject(cache, page), indexOf(page)[nth] * cache.slab.stride);
        }
        void* const object = page.objects;
        page.objects = nextObject(object, cache.link);
        return object;
    }

    template <class Pages>
    static void giveToSlab(Cache& cache, void* object, Pages& pages) noexcept {
        Page& page = PageSection::blockAt(object);
        (page.used == page.count ? cache.full : cache.partial).remove(page);
        --page.used;
        if (cache.shape.index != 0) {
            const std::size_t offset = addressOf(object) - addressOf(firstObject(cache, page));
            indexOf(page)[page.used] = static_cast<Index>(offset / cache.slab.stride);
        } else {
            linkObject(object, cache.link, page.objects);
            page.objects = object;
        }
        ++cache.freeObjects;
        if (page.used != 0) {
            cache.partial.addBack(page);
        } else if (cache.freeObjects > cache.mostFree) {
            cache.freeObjects -= page.count;
            discard(cache, page, pages);
        } else {
            cache.free.addFront(page);
        }
    }

    /// Under no lock but the processor's.
    template <class Pages>
    [[nodiscard]] static Page* newSlab(Cache& cache, Pages& pages) noexcept {
        Page* const page = pages.takePages(cache.slab.order, cache.traits.mobility(), 0);
        if (page == nullptr) {
            return nullptr;
        }
        const std::size_t stride = cache.slab.stride;
        std::size_t colour = 0;
        {
            const Hold hold(cache.lock);
            colour = cache.nextColour;
            cache.nextColour = (colour + 1) % cache.shape.colours;
        }
        const std::size_t step =
            std::max(ColouredShape::colourStep, std::min(stride & (0 - stride), bytesOfPage));
        page->holder = &cache;
        page->used = 0;
        page->count = static_cast<std::uint32_t>(cache.slab.objects);
        page->objects = forward(PageSection::addressOfPage(*page), colour * step);
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

    /// It is on no list, and its objects are counted no more.
    template <class Pages>
    static void discard(Cache& cache, Page& page, Pages& pages) noexcept {
        if (cache.shape.index != 0) {
            runOnObjects(cache.traits.destructor, firstObject(cache, page), page.count,
                         cache.slab.stride);
        }
        --cache.slabs;
        pages.givePages(page);
    }
};

} // namespace heapwright
