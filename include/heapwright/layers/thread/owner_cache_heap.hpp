// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A cache of freed objects for each thread. It keeps only objects of the thread's own superblocks,
// whose cache lines no other thread uses. The first word of the object's unit, the owner tag,
// identifies them (`OwnerTaggedHeap`). A request takes the first object of a list. A free is a
// load, a compare and a push. The cache never causes false sharing.
//
// The lists lie in thread-local storage, one for each size class, with the number of further
// objects that each may take (`Limits`, structure/cache/cache_limits.hpp). An empty list is filled
// with a batch, and a full one returns a batch. If the limits allow coarse refills, a coarser class
// serves the first requests of a class. So a seldom used class has no memory. Objects of other
// owners go onto a separate list and are returned in batches. When a thread ends, it returns all
// objects. A thread gets no cache while it has no heap of its own (`earnsOwnerTag`). It gets none
// if its first request comes after its exit hook can no longer be registered. The heap below must
// be a unique heap (`UniqueHeap`): each thread has one cache for the type, and finds it without a
// search. `Encoding` defines the links in freed objects (structure/cache/freelist_encoding.hpp).
//
// The heap below counts cached objects as used. `flush` and `trim` return the objects of the
// calling thread. When the heap below has no memory, these are returned first. In a forked child
// the caches of other threads are lost, at most `Limits` for each.
//
// The next request or flush of a class detects an object that was freed twice in a row, before any
// thread gets it (`PlainFreelist`). Another wrong free is detected when the object is returned to
// the heap below, unless it was reused before. A free of an address outside any heap may fault.
// Cost: 12 instructions for `malloc`, 14 for `free`, on x86-64.
// Source: the bins are after glibc's tcache, the owner tag after the page owner of mimalloc, the
// rest is Hoard's.
//
// Example: OwnerCacheHeap<LinearSlots<512, 512, 512>, CacheLimits{.perClassBytes = 2 * KiB, .perClassObjects = 32, .refillBytes = 512, .batchObjects = 8, .remoteObjects = 32, .remoteBytes = 64 * KiB}, PlainFreelist, UniqueHeap<DefaultName, HoardHeap<LinearSlots<512, 512, 512>, OwnHeap<64>, Emptiness<1, 4, 1>, CleanLines, AlignedBlockHeap<16 * KiB, 1 * MiB, MmapHeap>>>>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/opaque.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/platform/thread_exit.hpp>
#include <heapwright/sizeclass/size_classes.hpp>
#include <heapwright/structure/cache/cache_limits.hpp>
#include <heapwright/structure/cache/fast_path.hpp>
#include <heapwright/structure/cache/freelist_encoding.hpp>
#include <heapwright/structure/cache/owner_cache.hpp>
#include <heapwright/structure/cache/owner_cache_view.hpp>
#include <heapwright/structure/cache/owner_tag.hpp>
#include <heapwright/structure/object/object_chain.hpp>
#include <heapwright/structure/signal/request_state.hpp>
#include <heapwright/structure/thread/registry.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace heapwright {

template <SizeClasses Classes, CacheLimits Limits, FreelistEncoding Encoding,
          UniquelyNamedHeap SuperHeap>
    requires OwnerTaggedHeap<SuperHeap> && BatchingHeap<SuperHeap> && SizedHeap<SuperHeap> &&
             MaxAlignedHeap<SuperHeap>
class OwnerCacheHeap : private SuperHeap {
    using Cache = OwnerCache<Classes, Limits, Encoding>;
    using Mine = platform::PerThread<OwnerCacheHeap, Cache>;
    /// How many times the calling thread, which forks, holds the heap.
    using Holds = platform::PerThread<Mine, unsigned>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr bool uniform = false;
    static constexpr bool concurrent = true;
    /// An exit hook of each thread uses the heap below, inside a `SlowPath`.
    static constexpr bool runsAtThreadExit = true;
    static constexpr bool processLocal = true;          ///< its threads belong to one process
    static constexpr bool acceptsForeignObjects = true; ///< all heaps of the type are one
    static constexpr bool splitPath = true;
    static constexpr std::size_t unitBytes = SuperHeap::unitBytes;
    static constexpr std::string_view caption =
        "keeps what a thread frees for that thread, if it is at home with it";
    using Below = Heaps<SuperHeap>;

    /// The fast path reads only this state. See `SuspendableHeap`.
    using ThreadState = typename Cache::State;
    [[nodiscard]] static ThreadState& threadState() noexcept { return Mine::mine().state; }

    [[nodiscard, gnu::always_inline]] void* malloc(std::size_t size) noexcept {
        void* const object = tryMallocFast(size);
        return object != nullptr ? object : mallocSlow(size);
    }

    /// The first object of a class, or null.
    [[nodiscard, gnu::always_inline]] static void* tryMallocFast(std::size_t size) noexcept {
        const std::size_t index = platform::opaque(Classes::linearClassFor(size));
        if (index > Classes::linearClassFor(Classes::linear)) [[unlikely]] {
            return largerAtOnce(platform::opaque(size)); // a larger size: one more table lookup
        }
        return Mine::mine().take(index);
    }

    /// As `tryMallocFast`. The usable size is that of the class.
    [[nodiscard, gnu::always_inline]] static void* tryMallocKnown(std::size_t size,
                                                                  std::size_t& usable) noexcept {
        std::size_t index = Classes::linearClassFor(size);
        if (index > Classes::linearClassFor(Classes::linear)) [[unlikely]] {
            index = Classes::largerClassFor(size);
            if (index >= Classes::count) {
                return nullptr;
            }
        }
        usable = Classes::sizeOf(index);
        return Mine::mine().take(index);
    }

    [[gnu::always_inline]] void free(void* object) noexcept {
        if (!tryFreeFast(object)) [[unlikely]] {
            freeSlow(object);
        }
    }

    /// Puts the object onto its class's list, if it is the thread's own and there is room.
    [[nodiscard, gnu::always_inline]] static bool tryFreeFast(void* object) noexcept {
        if (isNone(object)) [[unlikely]] {
            return false;
        }
        Cache& cache = Mine::mine();
        if (SuperHeap::ownerTagOf(object) != cache.state.me) [[unlikely]] {
            return false;
        }
        return cache.put(object, SuperHeap::classAt(object));
    }

    /// As `tryFreeFast`, for an object that may be cached although others of its superblock may
    /// not, or an object of another thread. It does not use the heap below either, so a handler may
    /// interrupt it in the same way.
    /// Pre: not null.
    [[nodiscard, gnu::always_inline]] static bool freeAmongOthers(void* object) noexcept {
        Cache& cache = Mine::mine();
        const OwnerTag home = SuperHeap::ownerTagOf(object);
        if (((home ^ cache.state.me) | cachingSuspended) == cachingSuspended) {
            return home != cache.state.me && SuperHeap::mayCache(object) &&
                   cache.put(object, SuperHeap::classAt(object));
        }
        return namesThread(home) && cache.state.me != uncachedOwnerTag &&
               cache.tryPutRemote(object, Classes::sizeOf(SuperHeap::classAt(object)));
    }

    /// Serves a request that the fast path refused: from below, with a batch for later requests.
    [[nodiscard, gnu::noinline]] static void* mallocSlow(std::size_t size) noexcept {
        std::size_t index = Classes::classFor(size);
        Cache& cache = Mine::mine();
        if (index < Classes::count && (cache.isActive() || begun(cache))) {
            index = cache.refillClass(index);
            if (void* const object = cache.take(index)) {
                return object;
            }
            cache.refuseDoubleFree(index);
            if (collect(cache)) {
                if (void* const object = cache.take(index)) {
                    return object;
                }
            }
            std::size_t number = cache.refills(index);
            ObjectLink* const first =
                SuperHeap::mallocOwned(Classes::sizeOf(index), number, Cache::listEnd());
            if (first != nullptr) [[likely]] {
                cache.fill(first->next, number - 1, index);
                return first;
            }
        }
        return orAfterFlush([size] { return below().malloc(size); });
    }

    /// Frees an object that the fast path refused. A batch may be returned with it.
    [[gnu::noinline]] static void freeSlow(void* object) noexcept {
        Cache& cache = Mine::mine();
        if (mayKeep(cache, object)) [[likely]] {
            keep(cache, object);
        } else if (!SuperHeap::hasOwnerTag(object) || !(cache.isActive() || begun(cache))) {
            below().free(object);
        } else if (SuperHeap::ownerTagOf(object) == cachingSuspended && SuperHeap::adopt(object) &&
                   mayKeep(cache, object)) {
            keep(cache, object);
        } else {
            std::size_t number = 0;
            const std::size_t size = Classes::sizeOf(SuperHeap::classAt(object));
            if (ObjectLink* const chain = cache.putRemote(object, size, number)) {
                SuperHeap::sendOwned(chain, number);
            }
        }
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept {
        if (size <= largest || !ZeroingHeap<SuperHeap>) {
            void* const object = malloc(size);
            return object == nullptr ? nullptr : std::memset(object, 0, size);
        }
        if constexpr (ZeroingHeap<SuperHeap>) {
            return orAfterFlush([size] { return below().zalloc(size); });
        }
        return nullptr;
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return align <= minAlignment
                   ? malloc(size)
                   : orAfterFlush([align, size] { return below().memalign(align, size); });
    }

    [[nodiscard, gnu::always_inline]] std::size_t getSize(void* object) noexcept {
        const std::size_t size = tryGetSizeFast(object);
        return size != 0 ? size : below().getSize(object);
    }

    /// Of an object of the thread's own.
    [[nodiscard, gnu::always_inline]] static std::size_t tryGetSizeFast(void* object) noexcept {
        return isAtHome(object) ? Classes::sizeOf(SuperHeap::classAt(object)) : 0;
    }

    /// For a caller that may be inside the heap: a signal handler.
    [[nodiscard]] std::size_t getSizeUnlocked(void* object) noexcept {
        if constexpr (UnlockedSizeHeap<std::remove_reference_t<decltype(SuperHeap::theHeap())>>) {
            return SuperHeap::theHeap().getSizeUnlocked(object);
        } else {
            return below().getSize(object);
        }
    }

    /// An object of the thread's own stays if the size fits and is more than half of the capacity.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        if (isAtHome(object)) {
            const std::size_t have = Classes::sizeOf(SuperHeap::classAt(object));
            return size <= have && size > have / 2;
        }
        if constexpr (ResizableHeap<SuperHeap>) {
            return below().resize(object, size);
        } else {
            return false;
        }
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        return isAtHome(object) ? nullptr : below().relocate(object, size);
    }

    void check(void* object, std::string_view routine) noexcept
        requires CheckingHeap<SuperHeap>
    {
        below().check(object, routine);
    }

    [[nodiscard]] bool owns(const void* object) noexcept
        requires OwningHeap<SuperHeap>
    {
        return below().owns(object);
    }

    /// Returns the objects of the calling thread and flushes the heap below.
    bool flush() noexcept {
        bool any = flushMine();
        if constexpr (FlushableHeap<SuperHeap>) {
            any = below().flush() || any;
        }
        return any;
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        flushMine();
        return below().trim(pad);
    }

    /// Counts only the cached objects of the calling thread.
    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        below().measure(usage);
        const Cache& cache = Mine::mine();
        if (cache.isActive() && usage.firstVisit(&cache)) {
            cache.measure(usage);
        }
    }

    std::uint32_t purgeExpired() noexcept
        requires PurgeableHeap<SuperHeap>
    {
        return below().purgeExpired();
    }

    void inspect(HeapSnapshot& snapshot) noexcept
        requires InspectableHeap<SuperHeap>
    {
        below().inspect(snapshot);
        caches_.forEach([&snapshot](Cache& cache) {
            OwnerCacheView<Cache> view(cache);
            view.inspect(snapshot);
            view.forEachRemote([&snapshot](ObjectLink* object) {
                const bool known = SuperHeap::hasOwnerTag(object);
                const std::size_t index = known ? SuperHeap::classAt(object) : Classes::count;
                if (index < Classes::count) {
                    ++snapshot.sizeClass(index, Classes::sizeOf(index)).cached;
                }
                return index < Classes::count;
            });
        });
    }

    /// For layers that keep objects above: whether a live object has a size class, and which one.
    using SuperHeap::classAt;
    using SuperHeap::hasOwnerTag;

    /// Reports cached objects as cached. They are marked below, as far as the lists can be
    /// followed.
    void walk(const ObjectVisitor& visit) noexcept
        requires WalkableHeap<SuperHeap>
    {
        const auto mark = [](ObjectLink* object) { return SuperHeap::theHeap().mark(object); };
        caches_.forEach([mark](Cache& cache) { OwnerCacheView<Cache>(cache).forEachKept(mark); });
        below().walk(visit);
        SuperHeap::theHeap().unmark();
    }

    /// All heaps of the type are one. The first `beforeFork` holds it, and the last `afterFork…`
    /// releases it.
    void beforeFork() noexcept {
        if (Holds::mine()++ != 0) {
            return;
        }
        caches_.beforeFork();
        if constexpr (ForkableHeap<Inner>) {
            SuperHeap::theHeap().beforeFork();
        }
    }
    void afterForkInParent() noexcept {
        if (--Holds::mine() != 0) {
            return;
        }
        if constexpr (ForkableHeap<Inner>) {
            SuperHeap::theHeap().afterForkInParent();
        }
        caches_.afterForkInParent();
    }
    void afterForkInChild() noexcept {
        if (--Holds::mine() != 0) {
            return;
        }
        if constexpr (ForkableHeap<Inner>) {
            SuperHeap::theHeap().afterForkInChild();
        }
        caches_.afterForkInChild(Mine::mine());
    }

    /// Always false, because `beforeFork` takes only the locks that this thread does not hold yet.
    [[nodiscard]] static bool heldByThisThread() noexcept { return false; }

    /// Returns all objects of the calling thread and ends its cache. The thread's exit hook.
    static void leave() noexcept {
        SuspendedState<ThreadState>::restore(); // a thread may end in a signal handler
        const SlowPath::Entry entry;            // and a handler may interrupt it here
        flushMine();
        if (Mine::mine().isActive()) {
            SuperHeap::releaseOwnership();
        }
        caches_.leave(Mine::mine());
        Mine::mine().end();
    }

private:
    using Inner = std::remove_reference_t<decltype(SuperHeap::theHeap())>;
    static inline constinit Registry<Cache> caches_; // the caches of all threads
    static constexpr std::size_t largest = Classes::sizeOf(Classes::count - 1);

    /// As `tryMallocFast`, for sizes beyond the linear classes.
    [[nodiscard, gnu::always_inline]] static void* largerAtOnce(std::size_t size) noexcept {
        const std::size_t index = Classes::largerClassFor(size);
        return index < Classes::count ? Mine::mine().take(index) : nullptr;
    }

    [[nodiscard]] static SuperHeap below() noexcept { return {}; }

    /// Whether the object is null, whose unit is at the end of the address space. (The mask has
    /// already set the sign flag.)
    [[nodiscard, gnu::always_inline]] static bool isNone(const void* object) noexcept {
        return static_cast<std::intptr_t>(unitOf<unitBytes>(object)) < 0;
    }

    [[nodiscard, gnu::always_inline]] static bool isAtHome(void* object) noexcept {
        return SuperHeap::ownerTagOf(object) == Mine::mine().state.me;
    }

    /// Whether an object is of the thread's own superblocks, and the cache may keep it.
    [[nodiscard, gnu::always_inline]] static bool mayKeep(const Cache& cache,
                                                          const void* object) noexcept {
        const OwnerTag home = SuperHeap::ownerTagOf(object);
        return home == cache.state.me ||
               (home == (cache.state.me | cachingSuspended) && SuperHeap::mayCache(object));
    }

    /// Puts an object onto its class's list, and returns a batch first if the list is full.
    /// Pre: `mayKeep`.
    [[gnu::always_inline]] static void keep(Cache& cache, void* object) noexcept {
        const std::size_t index = SuperHeap::classAt(object);
        if (!cache.put(object, index)) [[likely]] {
            cache.hand(index, cache.flushes(index), SuperHeap::freeOwned);
            [[maybe_unused]] const bool kept = cache.put(object, index);
        }
    }

    /// Starts the calling thread's cache, unless it can have none.
    [[gnu::cold]] static bool begun(Cache& cache) noexcept {
        if (!SuperHeap::earnsOwnerTag() || !cache.mayBegin()) {
            return false; // too few requests yet, or this thread is starting it, or has ended it
        }
        Encoding::prepare();
        const bool leaves = leavesAtTheEnd();
        const OwnerTag home = SuperHeap::ownerTagOfThread();
        cache.begin(home != noOwnerTag && leaves ? home : uncachedOwnerTag);
        if (cache.isActive() && !platform::scheduled && // its caches end without a hook
            !caches_.enter(cache)) {
            cache.end();
        }
        return cache.isActive();
    }

    [[nodiscard]] static bool leavesAtTheEnd() noexcept {
        if constexpr (platform::scheduled) {
            return true; // the scheduler calls it
        } else {
            // One round before the thread's slot is released.
            return platform::AtThreadExit<leave, 1>::arrange();
        }
    }

    static bool flushMine() noexcept {
        Cache& cache = Mine::mine();
        bool any = false;
        for (std::size_t index = 0; index < Classes::count; ++index) {
            any = cache.hand(index, SIZE_MAX, SuperHeap::freeOwned) || any;
        }
        for (ObjectLink* const chain :
             {cache.takeRemote(), cache.takeCollected(), sentToMe(cache)}) {
            handBack(chain);
            any = any || chain != nullptr;
        }
        return any;
    }

    [[nodiscard]] static ObjectLink* sentToMe(const Cache& cache) noexcept {
        return cache.isActive() ? SuperHeap::collectSent() : nullptr;
    }

    /// Puts objects that other threads have sent onto the lists; false if there are none. The
    /// number for each call is limited. An object is returned if its list is full, or if its
    /// superblock has another owner now.
    static bool collect(Cache& cache) noexcept {
        ObjectLink* sent = cache.takeCollected();
        if (sent == nullptr) {
            sent = SuperHeap::collectSent();
            if (sent == nullptr) {
                return false;
            }
        }
        ObjectLink* others = nullptr;
        for (std::size_t left = Limits.perClassObjects; left > 0 && sent != nullptr; --left) {
            ObjectLink* const object = sent;
            sent = object->next;
            if (!mayKeep(cache, object) || !cache.put(object, SuperHeap::classAt(object))) {
                object->next = others;
                others = object;
            }
        }
        cache.keepCollected(sent);
        handBack(others);
        return true;
    }

    /// Returns all objects of a chain.
    /// Pre: all have an owner tag.
    static void handBack(ObjectLink* chain) noexcept {
        while (chain != nullptr) {
            chain = SuperHeap::freeOwned(chain, SIZE_MAX, nullptr);
        }
    }

    /// The result of `get` from below. If that is null, the thread's cache is flushed and `get`
    /// called again.
    template <class Get>
    static void* orAfterFlush(Get get) noexcept {
        void* const object = get();
        return object == nullptr && flushMine() ? get() : object;
    }
};

} // namespace heapwright
