// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A cache for each thread of freed objects that are at home with it: that are from a superblock
// whose lines are clean for this thread, as the first word of the object's unit says
// (`OwnerTaggedHeap`). So a request is a list's first object, a free is a load, a compare and a
// push, and no line comes to be shared through a cache.
//
// The lists stand in thread-local storage, one for each size class, with how many objects more each
// may take (`Limits`, structure/cache/cache_limits.hpp). An empty list is filled by a batch, a full
// one gives one up. What is not at home goes onto another list, and down by batches. When a thread
// ends, all goes down. A thread that has no home has no cache, nor has one that comes for the first
// time when its end is not told any more. The heap below must be one by its name (`UniqueHeap`): so
// there is one cache in a thread for the type, and it is found without looking for it. `Encoding`
// says how the links stand in freed objects (structure/cache/freelist_encoding.hpp).
//
// What is kept counts as used below. `flush` and `trim` hand down what the calling thread keeps;
// when there is no memory below, that goes there first. In a child after a fork what other threads
// kept is lost, no more for each than `Limits` says. A wrong free is found when the object comes
// down, unless it has been given out again before; one that is of no heap's memory may end in a
// fault.
// Cost: 12 instructions for `malloc`, 14 for `free`, on x86-64. The bins are after glibc's tcache,
// the owner tag after the page owner of mimalloc, the rest is Hoard's.
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
    /// How many times the calling thread, which forks, holds it still.
    using Holds = platform::PerThread<Mine, unsigned>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr bool uniform = false;
    static constexpr bool concurrent = true;
    static constexpr bool processLocal = true;          ///< its threads are those of one process
    static constexpr bool acceptsForeignObjects = true; ///< all of its type are one
    static constexpr bool splitPath = true;
    static constexpr std::size_t unitBytes = SuperHeap::unitBytes;
    static constexpr std::string_view caption =
        "keeps what a thread frees for that thread, if it is at home with it";
    using Below = Heaps<SuperHeap>;

    /// What goes by it is done at once (`SuspendableHeap`).
    using ThreadState = typename Cache::State;
    [[nodiscard]] static ThreadState& threadState() noexcept { return Mine::mine().state; }

    [[nodiscard, gnu::always_inline]] void* malloc(std::size_t size) noexcept {
        void* const object = tryMallocFast(size);
        return object != nullptr ? object : mallocSlow(size);
    }

    /// The first that waits of a class, or null.
    [[nodiscard, gnu::always_inline]] static void* tryMallocFast(std::size_t size) noexcept {
        const std::size_t index = platform::opaque(Classes::linearClassFor(size));
        if (index > Classes::linearClassFor(Classes::linear)) [[unlikely]] {
            return largerAtOnce(platform::opaque(size)); // none of the above is kept for it
        }
        return Mine::mine().take(index);
    }

    [[gnu::always_inline]] void free(void* object) noexcept {
        if (!tryFreeFast(object)) [[unlikely]] {
            freeSlow(object);
        }
    }

    /// Onto its class's list, if it is at home and there is room.
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

    /// The same for one that may be kept though others of its superblock may not. Neither needs
    /// the heap below, so a handler may interrupt it as it may `tryFreeFast`. Pre: not null.
    [[nodiscard, gnu::always_inline]] static bool freeAmongOthers(void* object) noexcept {
        Cache& cache = Mine::mine();
        return SuperHeap::ownerTagOf(object) == (cache.state.me | cachingSuspended) &&
               SuperHeap::mayCache(object) && cache.put(object, SuperHeap::classAt(object));
    }

    /// Once it was refused at once: from below, with others for later.
    [[nodiscard, gnu::noinline]] static void* mallocSlow(std::size_t size) noexcept {
        const std::size_t index = Classes::classFor(size);
        Cache& cache = Mine::mine();
        if (index < Classes::count && (cache.isActive() || begun(cache))) {
            if (void* const object = cache.take(index)) {
                return object;
            }
            std::size_t number = cache.refills(index);
            ObjectLink* const first = SuperHeap::mallocOwned(Classes::sizeOf(index), number);
            if (first != nullptr) [[likely]] {
                cache.fill(first->next, number - 1, index);
                return first;
            }
        }
        return orAfterFlush([size] { return below().malloc(size); });
    }

    /// In the same way: others go down with it.
    [[gnu::noinline]] static void freeSlow(void* object) noexcept {
        Cache& cache = Mine::mine();
        const OwnerTag home = SuperHeap::ownerTagOf(object);
        if (home == cache.state.me || (home == (cache.state.me | cachingSuspended) &&
                                       SuperHeap::mayCache(object))) [[likely]] {
            const std::size_t index = SuperHeap::classAt(object);
            if (!cache.put(object, index)) [[likely]] {
                cache.hand(index, cache.flushes(index), SuperHeap::freeOwned);
                [[maybe_unused]] const bool kept = cache.put(object, index);
            }
        } else if (!SuperHeap::hasOwnerTag(object) || !(cache.isActive() || begun(cache))) {
            below().free(object);
        } else if (ObjectLink* const chain =
                       cache.putRemote(object, Classes::sizeOf(SuperHeap::classAt(object)))) {
            handBack(chain);
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

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return isAtHome(object) ? Classes::sizeOf(SuperHeap::classAt(object))
                                : below().getSize(object);
    }

    /// For a caller that may be inside the heap itself, a signal handler.
    [[nodiscard]] std::size_t getSizeUnlocked(void* object) noexcept {
        if constexpr (UnlockedSizeHeap<std::remove_reference_t<decltype(SuperHeap::theHeap())>>) {
            return SuperHeap::theHeap().getSizeUnlocked(object);
        } else {
            return below().getSize(object);
        }
    }

    /// What is at home: while it fits, and would not fit into half as much.
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

    /// Hands down what the calling thread keeps, and lets the heap below do the like.
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

    /// Of what is kept, what the calling thread keeps.
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

    /// For who keeps objects above: whether one that is in use has a size class, and which.
    using SuperHeap::classAt;
    using SuperHeap::hasOwnerTag;

    /// What is kept is shown, too, as such: marked below as far as the lists can be followed.
    void walk(const ObjectVisitor& visit) noexcept
        requires WalkableHeap<SuperHeap>
    {
        const auto mark = [](ObjectLink* object) { return SuperHeap::theHeap().mark(object); };
        caches_.forEach([mark](Cache& cache) { OwnerCacheView<Cache>(cache).forEachKept(mark); });
        below().walk(visit);
        SuperHeap::theHeap().unmark();
    }

    /// All of its type are one, which several may hold: the first does, the last lets it go.
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

    /// Never all that a fork has to hold: `beforeFork` takes what this thread has not got yet.
    [[nodiscard]] static bool heldByThisThread() noexcept { return false; }

    /// Hands down all that the calling thread keeps; from now on it has no cache. Its end does
    /// this.
    static void leave() noexcept {
        SuspendedState<ThreadState>::restore(); // a thread may end in a signal handler
        const SlowPath::Entry entry;            // and be interrupted by one here
        flushMine();
        if (Mine::mine().isActive()) {
            SuperHeap::releaseOwnership();
        }
        caches_.leave(Mine::mine());
        Mine::mine().end();
    }

private:
    using Inner = std::remove_reference_t<decltype(SuperHeap::theHeap())>;
    static inline constinit Registry<Cache> caches_; // of all threads
    static constexpr std::size_t largest = Classes::sizeOf(Classes::count - 1);

    /// The same where classes are not as simple.
    [[nodiscard, gnu::always_inline]] static void* largerAtOnce(std::size_t size) noexcept {
        const std::size_t index = Classes::largerClassFor(size);
        return index < Classes::count ? Mine::mine().take(index) : nullptr;
    }

    [[nodiscard]] static SuperHeap below() noexcept { return {}; }

    /// Null, whose unit is at the end of the address space. (The mask has set the sign already.)
    [[nodiscard, gnu::always_inline]] static bool isNone(const void* object) noexcept {
        return static_cast<std::intptr_t>(unitOf<unitBytes>(object)) < 0;
    }

    [[nodiscard]] static bool isAtHome(void* object) noexcept {
        return SuperHeap::ownerTagOf(object) == Mine::mine().state.me;
    }

    /// Sets the calling thread's cache up, unless it can have none.
    [[gnu::cold]] static bool begun(Cache& cache) noexcept {
        if (!cache.mayBegin()) {
            return false; // for it is doing so, or has ended
        }
        Encoding::prepare();
        const bool leaves = leavesAtTheEnd();
        const OwnerTag home = SuperHeap::ownerTagOfThread();
        cache.begin(home != noOwnerTag && leaves ? home : uncachedOwnerTag);
        if (cache.isActive() && !platform::scheduled && // there caches end without a word
            !caches_.enter(cache)) {
            cache.end();
        }
        return cache.isActive();
    }

    [[nodiscard]] static bool leavesAtTheEnd() noexcept {
        if constexpr (platform::scheduled) {
            return true; // the scheduler sees to it
        } else {
            return platform::AtThreadExit<leave, 1>::arrange(); // while it has its slot
        }
    }

    static bool flushMine() noexcept {
        Cache& cache = Mine::mine();
        bool any = false;
        for (std::size_t index = 0; index < Classes::count; ++index) {
            any = cache.hand(index, SIZE_MAX, SuperHeap::freeOwned) || any;
        }
        if (ObjectLink* const chain = cache.takeRemote()) {
            handBack(chain);
            any = true;
        }
        return any;
    }

    /// All of a chain of objects that have a home.
    static void handBack(ObjectLink* chain) noexcept {
        while (chain != nullptr) {
            chain = SuperHeap::freeOwned(chain, SIZE_MAX);
        }
    }

    /// What `get` gets from below, if need be after what the thread keeps has gone there.
    template <class Get>
    static void* orAfterFlush(Get get) noexcept {
        void* const object = get();
        return object == nullptr && flushMine() ? get() : object;
    }
};

} // namespace heapwright
