// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Linux's SLOB as a heap: blocks of any size, by first fit, in pages that objects of all caches
// share (structure/kernel/slob_pages.hpp). It was made for small machines: it needs little memory,
// is slow, and has one lock.
//
// A cache is only a name with a size. Its objects have no header and are constructed at each
// allocation. An object from `malloc` has its size in the 8 bytes before it, and a power of two is
// aligned to its size. Requests of a page or more are blocks of pages. Requests larger than a block
// return null.
// Cost: a lock and a search.
// Source: mm/slob.c of Linux 6.1; Mackall (2005).
//
// Example: SlobHeap<FutexLock, KernelPageHeap<1, 16 * MiB, FutexLock, MmapHeap>>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/kernel/kernel_caches.hpp>
#include <heapwright/structure/kernel/slob_pages.hpp>
#include <heapwright/structure/thread/fork_holds.hpp>
#include <heapwright/sync/lock.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

namespace heapwright {

template <Lock Mutex, PagedHeap SuperHeap>
class SlobHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    using Hold = Guard<Mutex>;

public:
    /// A name and a size.
    struct Cache {
        CacheTraits traits;
        std::size_t live = 0;
        Cache* next = nullptr;
    };

    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool uniform = false;
    static constexpr bool concurrent = true;
    static constexpr bool processLocal = true;
    static constexpr std::size_t largest = SuperHeap::largest;
    static constexpr std::string_view caption = "first fit in shared pages, as Linux's SLOB";
    using Below = Heaps<SuperHeap>;

    constexpr SlobHeap() noexcept = default;
    SlobHeap(const SlobHeap&) = delete;
    SlobHeap& operator=(const SlobHeap&) = delete;
    ~SlobHeap() = default;

    // --- caches ---

    [[nodiscard]] Cache* createCache(const CacheTraits& traits) noexcept {
        void* const memory = malloc(sizeof(Cache));
        if (memory == nullptr) {
            return nullptr;
        }
        const Hold hold(lock_);
        auto* const cache = ::new (memory) Cache{traits, 0, made_};
        return made_ = cache;
    }

    /// An object, constructed if the cache has a constructor; null if there is no memory.
    [[nodiscard]] void* take(Cache& cache) noexcept { return takeNear(cache, anyNode); }

    /// As `take`, from pages of a node, or of the next node that has some.
    [[nodiscard]] void* takeNear(Cache& cache, std::size_t node) noexcept {
        const std::size_t size = std::max(cache.traits.size, std::size_t{1});
        void* const object = size < bytesOfPage
                                 ? takeBlock(size, cache.traits.align, 0, cache, node)
                                 : largeObject(size, &cache, node);
        if (object != nullptr && cache.traits.constructor != nullptr) {
            cache.traits.constructor(object);
        }
        return object;
    }

    /// Pre: the object is live and from this cache.
    void put(Cache& cache, void* object) noexcept {
        if (cache.traits.destructor != nullptr) {
            cache.traits.destructor(object);
        }
        {
            const Hold hold(lock_);
            --cache.live;
        }
        const std::size_t size = std::max(cache.traits.size, std::size_t{1});
        if (size < bytesOfPage) {
            giveBlock(object, size);
        } else {
            SuperHeap::givePages(PageSection::pageAt(object));
        }
    }

    /// Does nothing: there is never an empty page.
    bool shrinkCache(Cache& /*cache*/) noexcept { return false; }

    /// Returns false, and does nothing, if the cache has live objects.
    bool destroyCache(Cache& cache) noexcept {
        {
            const Hold hold(lock_);
            if (cache.live != 0) {
                return false;
            }
            for (Cache** place = &made_; *place != nullptr; place = &(*place)->next) {
                if (*place == &cache) {
                    *place = cache.next;
                    break;
                }
            }
        }
        free(&cache);
        return true;
    }

    /// Runs `see` on the figures of all pages together, in units of 8 bytes, and of each cache.
    template <class See>
    void forEachCache(See see) noexcept {
        const Hold hold(lock_);
        CacheFigures all;
        all.name = "all";
        all.size = all.stride = SlobPages::unit;
        all.slabs = all.pages = pages_.pages();
        all.objectsPerSlab = bytesOfPage / SlobPages::unit;
        all.pagesPerSlab = 1;
        all.objects = all.pages * all.objectsPerSlab;
        all.live = all.objects - pages_.freeBytes() / SlobPages::unit;
        if (all.pages != 0) {
            see(all);
        }
        for (const Cache* cache = made_; cache != nullptr; cache = cache->next) {
            CacheFigures figures;
            figures.name = cache->traits.name;
            figures.size = figures.stride = cache->traits.size;
            figures.live = figures.objects = cache->live;
            if (cache->traits.size >= bytesOfPage) { // in pages of their own
                figures.slabs = cache->live;
                figures.pagesPerSlab = std::size_t{1} << pageOrderFor(cache->traits.size);
                figures.pages = figures.slabs * figures.pagesPerSlab;
            }
            see(figures);
        }
    }

    // --- pages ---

    /// Blocks of pages outside any cache, as other parts of a kernel take them.
    [[nodiscard]] Page* takePages(std::size_t order, Mobility mobility, std::size_t node) noexcept {
        return SuperHeap::takePages(order, mobility, node);
    }
    void givePages(Page& block) noexcept { SuperHeap::givePages(block); }

    /// The number of times that pages of another mobility had to serve.
    [[nodiscard]] auto fallbacks() noexcept
        requires ZonedHeap<SuperHeap>
    {
        return SuperHeap::fallbacks();
    }

    /// Runs `look` on the free pages of each node.
    template <class Look>
    void forEachZone(Look look) noexcept
        requires ZonedHeap<SuperHeap>
    {
        SuperHeap::forEachZone(look);
    }

    // --- objects of any size ---

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        const std::size_t align = std::has_single_bit(size) ? size : minAlignment;
        return memalign(std::max(align, minAlignment), size);
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        align = std::max(align, minAlignment);
        const bool fits = align < bytesOfPage && size <= bytesOfPage - roundUp(header, align);
        if (!fits) {
            return largeObject(std::max(size, align), nullptr, anyNode);
        }
        Cache none;
        void* const block = takeBlock(size + header, align, header, none, anyNode);
        if (block == nullptr) {
            return nullptr;
        }
        ::new (block) std::uint64_t(size);
        return forward(block, header);
    }

    void free(void* object) noexcept {
        Page& page = PageSection::blockAt(object);
        if (page.holder == nullptr) {
            SuperHeap::givePages(page);
            return;
        }
        void* const block = backward(object, header);
        giveBlock(block, *static_cast<std::uint64_t*>(block) + header);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        const Page& page = PageSection::blockAt(object);
        if (page.holder == nullptr) {
            return bytesOfPage << page.order;
        }
        return roundUp(*static_cast<std::uint64_t*>(backward(object, header)), SlobPages::unit);
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        const std::size_t have = getSize(object);
        return size <= have && size > have / 2;
    }

    [[nodiscard]] bool owns(const void* object) const noexcept { return SuperHeap::owns(object); }

    /// Pre: no other thread uses the heap, and no cache is used afterwards.
    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        made_ = nullptr;
        pages_.clear();
        SuperHeap::clear();
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        {
            const Hold hold(lock_);
            usage.held += pages_.freeBytes();
            usage.heldCount += pages_.pages();
        }
        SuperHeap::measure(usage);
    }

    void beforeFork() noexcept {
        holds_.hold(theLock());
        SuperHeap::beforeFork();
    }
    void afterForkInParent() noexcept {
        SuperHeap::afterForkInParent();
        holds_.letGo(theLock(), [](auto& held) { held.lock.unlock(); });
    }
    void afterForkInChild() noexcept {
        SuperHeap::afterForkInChild();
        holds_.letGo(theLock(), [](auto& held) { held.lock.reset(); });
    }

    /// Always false, because `beforeFork` takes only the locks that this thread does not hold yet.
    [[nodiscard]] static bool heldByThisThread() noexcept { return false; }

    using Forwards::flush;
    using Forwards::trim;

private:
    static constexpr std::size_t header = 8;
    static constexpr std::size_t anyNode = SlobPages::anyNode;
    [[nodiscard]] static constexpr std::size_t firstNode(std::size_t node) noexcept {
        return node == anyNode ? 0 : node;
    }

    /// The lock with the interface of a heap that is held over a fork. Its holder never waits for
    /// pages.
    struct Held {
        Mutex& lock;
        [[nodiscard]] bool heldByThisThread() const noexcept { return lock.heldByThisThread(); }
        void beforeFork() noexcept { lock.lock(); }
    };
    [[nodiscard]] auto theLock() noexcept {
        return [this](std::size_t, auto body) {
            Held held{lock_};
            body(held);
        };
    }

    /// A block of less than a page; the cache counts it.
    [[nodiscard]] void* takeBlock(std::size_t size, std::size_t align, std::size_t lead,
                                  Cache& cache, std::size_t node) noexcept {
        {
            const Hold hold(lock_);
            if (void* const block = pages_.take(size, align, lead, node)) {
                ++cache.live;
                return block;
            }
        }
        Page* const page = SuperHeap::takePages(0, cache.traits.mobility(), firstNode(node));
        if (page == nullptr) {
            return nullptr;
        }
        page->holder = this;
        const Hold hold(lock_);
        ++cache.live;
        pages_.add(*page, size);
        // The page is first on its list. It may be another node's if this one has no memory.
        return pages_.take(size, align, lead, PageSection::of(page).node);
    }

    void giveBlock(void* block, std::size_t size) noexcept {
        bool whole = false;
        {
            const Hold hold(lock_);
            whole = pages_.give(block, size);
        }
        if (whole) {
            SuperHeap::givePages(PageSection::pageAt(block));
        }
    }

    [[nodiscard]] void* largeObject(std::size_t size, Cache* cache, std::size_t node) noexcept {
        if (size > largest) {
            return nullptr;
        }
        Page* const page =
            SuperHeap::takePages(pageOrderFor(size), Mobility::unmovable, firstNode(node));
        if (page == nullptr) {
            return nullptr;
        }
        page->holder = nullptr;
        if (cache != nullptr) {
            const Hold hold(lock_);
            ++cache->live;
        }
        return PageSection::addressOfPage(*page);
    }

    Mutex lock_;
    SlobPages pages_;
    Cache* made_ = nullptr;
    ForkHolds<1> holds_;
};

} // namespace heapwright
