// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The common part of the kernel's cache heaps: the caches that subsystems create, general caches
// behind `malloc`, and blocks of pages for larger requests.
//
// A `Model` (layers/kernel/) defines a `Cache`. Its static functions take and return an object,
// shrink a cache, and report its locks and its figures. The holder of a slab's pages is its cache.
// Pages without a holder are one object. A model with `merges` returns one cache for several
// requests with equal objects, unless those keep state. The heap of a design only adds a name, so
// it inherits publicly.
// Invariant: locks are taken in the order caches, cache, pages. A fork holds all. If the fork comes
// from a signal handler that interrupted a holder, those locks are left to the interrupted code. A
// thread that waits for them counts as quiescent (structure/thread/fork_lock.hpp).
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/structure/kernel/kernel_cache.hpp>
#include <heapwright/structure/kernel/page_section.hpp>
#include <heapwright/structure/kernel/page_zone.hpp>
#include <heapwright/structure/thread/fork_lock.hpp>
#include <heapwright/sync/lock.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>

namespace heapwright {

/// A heap whose memory is pages with descriptors.
template <class H>
concept PagedHeap = OwningHeap<H> && ForkableHeap<H> && ConcurrentHeap<H> &&
                    requires(H heap, std::size_t order, Mobility mobility, Page& page) {
                        { heap.takePages(order, mobility, order) } -> std::same_as<Page*>;
                        { heap.givePages(page) } -> std::same_as<void>;
                        { H::largest } -> std::convertible_to<std::size_t>;
                        { H::nodes } -> std::convertible_to<std::size_t>;
                    };

/// A visitor of any type in `ZonedHeap`.
struct AnyZoneVisitor {
    void operator()(auto& zone) const noexcept;
};

/// A paged heap that reports its zones, and how often pages of another mobility had to serve.
template <class H>
concept ZonedHeap = PagedHeap<H> && requires(H heap, AnyZoneVisitor look) {
    { heap.fallbacks() } -> std::same_as<PageFallbacks>;
    { heap.forEachZone(look) } -> std::same_as<void>;
};

template <class Model, Lock Mutex, PagedHeap SuperHeap>
class KernelCaches : protected SuperHeap {
    using Latch = ForkLock<Mutex>;
    using Hold = Guard<Latch>;
    using General = GeneralSizes<Model::largestGeneral>;

public:
    using Cache = typename Model::Cache;

    static constexpr std::size_t largest = SuperHeap::largest;

    constexpr KernelCaches() noexcept = default;
    KernelCaches(const KernelCaches&) = delete;
    KernelCaches& operator=(const KernelCaches&) = delete;

    // --- caches ---

    /// A cache for such objects, which may be an existing one; null if there is no memory.
    [[nodiscard]] Cache* createCache(const CacheTraits& traits) noexcept {
        const Hold hold(cachesLock_);
        if (Cache* const like = likeThat(traits)) {
            like->references.fetch_add(1, std::memory_order_relaxed);
            return like;
        }
        Page* const page = [this] {
            const GoneBelow<Latch> below(cachesLock_);
            return SuperHeap::takePages(pageOrderFor(sizeof(Cache)), Mobility::unmovable, 0);
        }();
        if (page == nullptr) {
            return nullptr;
        }
        page->holder = nullptr;
        auto* const cache = ::new (PageSection::addressOfPage(*page)) Cache;
        Model::shape(*cache, traits);
        cache->references.store(1, std::memory_order_relaxed);
        cache->next = made_;
        made_ = cache;
        return cache;
    }

    /// An object, constructed if the cache has a constructor; null if there is no memory.
    [[nodiscard]] void* take(Cache& cache) noexcept { return Model::take(cache, pages()); }

    /// Pre: the object is live and from this cache.
    void put(Cache& cache, void* object) noexcept {
        Model::put(cache, PageSection::blockAt(object), object, pages());
    }

    /// Returns all empty slabs; true if there were any.
    bool shrinkCache(Cache& cache) noexcept { return Model::shrink(cache, pages()); }

    /// Returns false if the cache has live objects; it may have been shrunk.
    bool destroyCache(Cache& cache) noexcept {
        const Hold hold(cachesLock_);
        if (cache.references.load(std::memory_order_relaxed) > 1) {
            cache.references.fetch_sub(1, std::memory_order_relaxed);
            return true;
        }
        {
            const GoneBelow<Latch> below(cachesLock_);
            shrinkCache(cache);
        }
        if (cache.slabs != 0) {
            return false;
        }
        for (Cache** place = &made_; *place != nullptr; place = &(*place)->next) {
            if (*place == &cache) {
                *place = cache.next;
                break;
            }
        }
        cache.~Cache();
        const GoneBelow<Latch> below(cachesLock_);
        SuperHeap::givePages(PageSection::pageAt(&cache));
        return true;
    }

    /// Runs `see` on the figures of each cache that has slabs, general ones first.
    template <class See>
    void forEachCache(See see) noexcept {
        forEach([&see](Cache& cache) {
            if (cache.slabs != 0) {
                see(Model::figuresOf(cache));
            }
        });
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
        void* const object = general(size);
        return object != nullptr ? object : generalAfterShrinking(size);
    }

    /// Objects of a power of two are aligned to their size, and so are blocks of pages.
    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        return malloc(General::alignedSize(align, size));
    }

    void free(void* object) noexcept {
        Page& page = PageSection::blockAt(object);
        if (page.holder == nullptr) {
            SuperHeap::givePages(page);
        } else {
            Model::put(*static_cast<Cache*>(page.holder), page, object, pages());
        }
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        const Page& page = PageSection::blockAt(object);
        return page.holder == nullptr ? bytesOfPage << page.order
                                      : static_cast<Cache*>(page.holder)->traits.size;
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        const std::size_t have = getSize(object);
        return size <= have && size > have / 2;
    }

    [[nodiscard]] bool owns(const void* object) const noexcept { return SuperHeap::owns(object); }

    bool flush() noexcept {
        bool any = shrinkAll();
        if constexpr (FlushableHeap<SuperHeap>) {
            any = SuperHeap::flush() || any;
        }
        return any;
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        shrinkAll();
        return SuperHeap::trim(pad);
    }

    /// Runs no destructors.
    /// Pre: no other thread uses the heap, and no cache is used afterwards.
    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        made_ = nullptr;
        for (Cache& cache : general_) {
            cache.~Cache();
            ::new (&cache) Cache;
        }
        SuperHeap::clear();
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        forEach([&usage](Cache& cache) {
            const CacheFigures figures = Model::figuresOf(cache);
            usage.held += (figures.objects - figures.live) * figures.stride;
            usage.heldCount += figures.objects - figures.live;
        });
        SuperHeap::measure(usage);
    }

    void beforeFork() noexcept {
        for (;;) {
            const std::uint32_t fork = beginTurn();
            if (cachesLock_.holdFor(fork)) {
                if (holdCaches(fork)) {
                    break;
                }
                letGoAll([fork](Latch& lock) { lock.letGo(fork); });
            }
            // Lets the interrupted holder of a lock continue first.
            endTurn([](Mutex& turn) { turn.unlock(); });
            platform::yieldProcessor();
        }
        SuperHeap::beforeFork();
    }
    void afterForkInParent() noexcept {
        SuperHeap::afterForkInParent();
        letGoAll([fork = forks_](Latch& lock) { lock.letGo(fork); });
        endTurn([](Mutex& turn) { turn.unlock(); });
    }
    void afterForkInChild() noexcept {
        SuperHeap::afterForkInChild();
        letGoAll([fork = forks_](Latch& lock) { lock.letGoInChild(fork); });
        endTurn([](Mutex& turn) { turn.reset(); });
    }

    /// Always false, because `beforeFork` takes only the locks that this thread does not hold yet.
    [[nodiscard]] static bool heldByThisThread() noexcept { return false; }

protected:
    ~KernelCaches() = default;

private:
    [[nodiscard]] SuperHeap& pages() noexcept { return *this; }

    [[nodiscard]] Cache* likeThat(const CacheTraits& traits) noexcept {
        if (!Model::merges || traits.keepsState()) {
            return nullptr;
        }
        const std::size_t size = roundUp(std::max(traits.size, sizeof(void*)), traits.align);
        for (Cache* cache = made_; cache != nullptr; cache = cache->next) {
            const CacheTraits& other = cache->traits;
            const std::size_t stride = cache->slab.stride;
            if (!other.keepsState() && other.reclaimable == traits.reclaimable && stride >= size &&
                stride - size < sizeof(void*) && stride % traits.align == 0) {
                return cache;
            }
        }
        return nullptr;
    }

    [[nodiscard, gnu::always_inline]] void* general(std::size_t size) noexcept {
        if (size > General::largest) {
            return largeObject(size);
        }
        Cache& cache = general_[General::indexFor(size)];
        if (cache.references.load(std::memory_order_acquire) == 0) [[unlikely]] {
            beginGeneral();
        }
        return take(cache);
    }

    /// Before a request fails, the memory that processors and caches keep is returned.
    [[nodiscard, gnu::cold, gnu::noinline]] void* generalAfterShrinking(std::size_t size) noexcept {
        return size <= largest && shrinkAll() ? general(size) : nullptr;
    }

    [[gnu::cold, gnu::noinline]] void beginGeneral() noexcept {
        const Hold hold(cachesLock_);
        for (std::size_t index = 0; index < General::count; ++index) {
            Cache& cache = general_[index];
            if (cache.references.load(std::memory_order_relaxed) == 0) {
                const std::size_t size = General::sizes[index];
                const std::size_t align = std::has_single_bit(size) ? size : minAlignment;
                Model::shape(cache, {General::names[index], size, std::min(align, bytesOfPage)});
                cache.references.store(1, std::memory_order_release);
            }
        }
    }

    [[nodiscard]] void* largeObject(std::size_t size) noexcept {
        if (size > largest) {
            return nullptr;
        }
        Page* const page = SuperHeap::takePages(pageOrderFor(size), Mobility::unmovable, 0);
        if (page == nullptr) {
            return nullptr;
        }
        page->holder = nullptr;
        return PageSection::addressOfPage(*page);
    }

    bool shrinkAll() noexcept {
        bool any = false;
        forEach([&](Cache& cache) { any = (cache.slabs != 0 && shrinkCache(cache)) || any; });
        return any;
    }

    /// `body` may wait for locks.
    template <class Body>
    void forEach(Body body) noexcept {
        const Hold hold(cachesLock_);
        eachCache([this, &body](Cache& cache) {
            const GoneBelow<Latch> below(cachesLock_);
            body(cache);
        });
    }

    // --- forks ---

    /// Returns the number of the fork.
    [[nodiscard]] std::uint32_t beginTurn() noexcept {
        if (platform::singleThreaded() || !turn_.heldByThisThread()) {
            turn_.lock();
        }
        return ++forks_;
    }
    /// Returns false if a lock could not be taken within some time.
    [[nodiscard]] bool holdCaches(std::uint32_t fork) noexcept {
        bool held = true;
        eachCache([&](Cache& cache) {
            Model::forEachLock(cache, [&](Latch& lock) { held = held && lock.holdFor(fork); });
        });
        return held;
    }
    template <class LetGo>
    void letGoAll(LetGo letGoOne) noexcept {
        eachCache([&](Cache& cache) { Model::forEachLock(cache, letGoOne); });
        letGoOne(cachesLock_);
    }
    template <class LetGo>
    void endTurn(LetGo letGoTurn) noexcept {
        if (--forks_ == 0) {
            letGoTurn(turn_);
        }
    }

    template <class Body>
    void eachCache(Body body) noexcept {
        for (Cache& cache : general_) {
            body(cache);
        }
        for (Cache* cache = made_; cache != nullptr; cache = cache->next) {
            body(*cache);
        }
    }

    Mutex turn_;              ///< held by the thread that forks
    std::uint32_t forks_ = 0; ///< depth of nested forks of one thread
    Latch cachesLock_;
    std::array<Cache, General::count> general_;
    Cache* made_ = nullptr;
};

} // namespace heapwright
