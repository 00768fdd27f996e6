// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Places one of every n small objects on a guarded page of its own, in a set of `Units` units
// (structure/observe/guarded_pages.hpp). It is meant for production: programs that run on many
// machines find rare misuse of the heap, at little cost. For such an object
//
//   an access beyond its page, or after its free, ends the program by SIGSEGV;
//   a write beside it on its page, a double free, and an invalid free end the program at the free.
//
// The report contains the stacks of the allocation, of the free, and of the misuse. The layer
// installs no signal handler. `describe` prints the report for an address, for example in a handler
// of SIGSEGV.
//
// `Rule::guardInterval()` is n, at any moment; 0 places none. If the heap below has a fast path,
// only requests that it refused are counted, so the fast path costs nothing. No object is placed
// before the C library's unwinder is loaded (`platform::prepareStacks`).
// Cost: a load for each counted request, and an atomic addition while objects are placed. For each
// placed object two stacks and the cost of `GuardedPages`, some 20 microseconds.
// Source: the sampled guards of GWP-ASan (Serebryany and others, 2024), after Electric Fence.
//
// Example: GuardSampleHeap<16, GuardEvery<1000>, MallocHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/heap_snapshot.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/stack_trace.hpp>
#include <heapwright/structure/cache/fast_path.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/observe/guarded_pages.hpp>
#include <heapwright/structure/thread/fork_holds.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright {

/// How often an object is placed on a guarded page: one of every `guardInterval()` requests, or
/// none if that is 0. Any thread may call it.
template <class R>
concept GuardRule = requires {
    { R::guardInterval() } noexcept -> std::same_as<std::uint32_t>;
};

/// A fixed interval.
template <std::uint32_t Interval>
struct GuardEvery {
    [[nodiscard]] static constexpr std::uint32_t guardInterval() noexcept { return Interval; }
};

namespace detail {

/// The state that the fast path of a heap uses, if it names one.
template <class H>
struct ThreadStateOf {
    struct type {};
};
template <SuspendableHeap H>
struct ThreadStateOf<H> {
    using type = typename H::ThreadState;
};

} // namespace detail

template <std::size_t Units, GuardRule Rule, MaxAlignedHeap SuperHeap>
    requires SizedHeap<SuperHeap> && AnySizeHeap<SuperHeap> && AnyOrderHeap<SuperHeap>
class GuardSampleHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;
    using Pages = GuardedPages<Units>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr bool uniform = false;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr bool processLocal = true; ///< its pages belong to the process
    static constexpr bool splitPath = SplitPathHeap<SuperHeap>;
    static constexpr std::size_t unitBytes = unitBytesOf<SuperHeap>;
    /// Only this heap knows its pages.
    static constexpr bool acceptsForeignObjects = false;
    static constexpr std::string_view caption = "places one of n objects on a guarded page";
    using Below = Heaps<SuperHeap>;

    constexpr GuardSampleHeap() noexcept = default;
    ~GuardSampleHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        if constexpr (splitPath) {
            void* const object = SuperHeap::tryMallocFast(size);
            return object != nullptr ? object : mallocSlow(size);
        } else {
            void* const object = sampled(size);
            return object != nullptr ? object : SuperHeap::malloc(size);
        }
    }

    void free(void* object) noexcept {
        if constexpr (splitPath) {
            if (!SuperHeap::tryFreeFast(object)) {
                freeSlow(object);
            }
        } else if (pages_.owns(object)) [[unlikely]] {
            pages_.free(object);
        } else {
            SuperHeap::free(object);
        }
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        void* const object = sampled(size); // its page is zero
        return object != nullptr ? object : SuperHeap::zalloc(size);
    }

    // --- the fast path of the heap below ---

    [[nodiscard, gnu::always_inline]] static void* tryMallocFast(std::size_t size) noexcept
        requires SplitPathHeap<SuperHeap>
    {
        return SuperHeap::tryMallocFast(size);
    }
    [[nodiscard, gnu::always_inline]] static bool tryFreeFast(void* object) noexcept
        requires SplitPathHeap<SuperHeap>
    {
        return SuperHeap::tryFreeFast(object);
    }
    [[nodiscard, gnu::always_inline]] static bool freeAmongOthers(void* object) noexcept
        requires SharedUnitCachingHeap<SuperHeap>
    {
        return SuperHeap::freeAmongOthers(object);
    }
    [[nodiscard]] void* mallocSlow(std::size_t size) noexcept
        requires SplitPathHeap<SuperHeap>
    {
        void* const object = sampled(size);
        return object != nullptr ? object : SuperHeap::mallocSlow(size);
    }
    void freeSlow(void* object) noexcept
        requires SplitPathHeap<SuperHeap>
    {
        if (pages_.owns(object)) [[unlikely]] {
            pages_.free(object);
        } else {
            SuperHeap::freeSlow(object);
        }
    }
    /// The fast path reads only this state. See `SuspendableHeap`.
    using ThreadState = typename detail::ThreadStateOf<SuperHeap>::type;
    [[nodiscard]] static ThreadState& threadState() noexcept
        requires SuspendableHeap<SuperHeap>
    {
        return SuperHeap::threadState();
    }

    // --- live objects ---

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return pages_.owns(object) ? pages_.getSize(object, "malloc_usable_size")
                                   : SuperHeap::getSize(object);
    }

    /// For a caller that may be inside the heap: a signal handler.
    [[nodiscard]] std::size_t getSizeUnlocked(void* object) noexcept {
        if (pages_.owns(object)) {
            return pages_.getSizeUnlocked(object);
        }
        if constexpr (UnlockedSizeHeap<SuperHeap>) {
            return SuperHeap::getSizeUnlocked(object);
        } else {
            return SuperHeap::getSize(object);
        }
    }

    /// An object on a page of its own keeps its size.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap>
    {
        return pages_.owns(object) ? size == pages_.getSize(object, "realloc")
                                   : SuperHeap::resize(object, size);
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        return pages_.owns(object) ? nullptr : SuperHeap::relocate(object, size);
    }

    void check(void* object, std::string_view routine) noexcept
        requires CheckingHeap<SuperHeap>
    {
        if (pages_.owns(object)) {
            static_cast<void>(pages_.getSize(object, routine));
        } else {
            SuperHeap::check(object, routine);
        }
    }

    [[nodiscard]] bool owns(const void* object) noexcept
        requires OwningHeap<SuperHeap>
    {
        return pages_.owns(object) || SuperHeap::owns(object);
    }

    /// Whether an address lies in the guarded pages. Prints what is known of the object there.
    bool describe(int descriptor, const void* address) noexcept {
        const bool here = pages_.owns(address);
        if (here) {
            pages_.describe(descriptor, address);
        }
        return here;
    }

    void inspect(HeapSnapshot& snapshot) noexcept
        requires InspectableHeap<SuperHeap>
    {
        SuperHeap::inspect(snapshot);
        pages_.forEachLive([&snapshot](void* /*object*/, std::size_t size) {
            ++snapshot.large.objects;
            snapshot.large.bytes += size;
        });
    }

    void walk(const ObjectVisitor& visit) noexcept
        requires WalkableHeap<SuperHeap>
    {
        SuperHeap::walk(visit);
        pages_.forEachLive([&visit](void* object, std::size_t size) {
            visit({object, size, LiveObject::noClass});
        });
    }

    // --- forks ---

    void beforeFork() noexcept { holds_.hold(visit()); }
    void afterForkInParent() noexcept {
        holds_.letGo(visit(), [](auto& part) { part.afterForkInParent(); });
    }
    void afterForkInChild() noexcept {
        holds_.letGo(visit(), [](auto& part) { part.afterForkInChild(); });
    }
    /// Always false, because `beforeFork` takes only the locks that this thread does not hold yet.
    [[nodiscard]] static bool heldByThisThread() noexcept { return false; }

    using Forwards::flush;
    using Forwards::measure; ///< guarded pages are not counted
    using Forwards::memalign;
    using Forwards::purgeExpired;
    using Forwards::trim;

private:
    /// One of n objects; null for the others.
    [[nodiscard, gnu::always_inline]] void* sampled(std::size_t size) noexcept {
        const std::uint32_t interval = Rule::guardInterval();
        return interval == 0 ? nullptr : placed(size, interval);
    }

    [[nodiscard, gnu::noinline]] void* placed(std::size_t size, std::uint32_t interval) noexcept {
        if (size == 0 || size > Pages::largest || !platform::stacksReady() ||
            requests_.fetchAdd(1, std::memory_order_relaxed) % interval != interval - 1) {
            return nullptr;
        }
        return pages_.place(size);
    }

    /// Enumerates what a fork holds.
    [[nodiscard]] auto visit() noexcept {
        return [this](std::size_t index, auto body) {
            if (index == 0) {
                body(pages_);
            } else if constexpr (ForkableHeap<SuperHeap>) {
                body(static_cast<SuperHeap&>(*this));
            }
        };
    }

    Pages pages_;
    SharedWord<std::uint32_t> requests_; ///< counted requests
    ForkHolds<ForkableHeap<SuperHeap> ? 2 : 1> holds_;
};

} // namespace heapwright
