// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Serves a signal handler that interrupted the heap below. The uninterrupted fast path sets no flag
// (`SignalSafeHeap` sets one). docs/explanation/signals.md has the state diagram.
//
// The fast path of the heap below uses a state of the thread. The function that runs a handler
// calls `beforeHandler` and `afterHandler` if the handler interrupted the heap
// (native/preload/signal_handlers.hpp). In between the state is suspended, so the fast path refuses
// every request, and the slow functions here check where the thread is. In a handler, or in a fork,
// they allocate from an arena. They free an arena object to the arena, and defer the free of any
// other object to the next ordinary slow path.
//
// Invariant: no request waits for a lock that its own thread holds.
// Pre: a handler that interrupted the heap runs between `beforeHandler` and `afterHandler`, or it
// does not use the heap.
// Cost: none on the fast path; a flag set and cleared and a load of a list's head on others.
//
// Example: HandlerSafeHeap<OwnerCacheHeap<LinearSlots<512, 512, 512>, CacheLimits{.perClassBytes = 2 * KiB, .perClassObjects = 32, .refillBytes = 512, .batchObjects = 8, .remoteObjects = 32, .remoteBytes = 64 * KiB}, PlainFreelist, UniqueHeap<DefaultName, HoardHeap<LinearSlots<512, 512, 512>, OwnHeap<64>, Emptiness<1, 4, 1>, CleanLines, AlignedBlockHeap<16 * KiB, 1 * MiB, MmapHeap>>>>>
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/structure/cache/fast_path.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/signal/deferred_frees.hpp>
#include <heapwright/structure/signal/handler_arena.hpp>
#include <heapwright/structure/signal/request_state.hpp>
#include <heapwright/structure/thread/deferred_work.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace heapwright {

template <SuspendableHeap SuperHeap>
    requires SizedHeap<SuperHeap> && AlignedHeap<SuperHeap> && MaxAlignedHeap<SuperHeap> &&
             AnyOrderHeap<SuperHeap>
class HandlerSafeHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    using Arena = HandlerArena<SuperHeap::unitBytes>;
    using Suspended = SuspendedState<typename SuperHeap::ThreadState>;
    using Entry = SlowPath::Entry;

    /// What this thread's `beforeFork` found, until the fork is over.
    struct Fork {
        bool inside;  ///< the flag was set already
        bool waiting; ///< and the interrupted request may wait for a lock
    };
    using ForkOf = platform::PerThread<HandlerSafeHeap, Fork>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr bool splitPath = true;
    static constexpr bool processLocal = true; ///< its arena is of the process
    static constexpr std::string_view caption =
        "serves a signal handler that interrupted the heap, at no cost to others";
    using Below = Heaps<SuperHeap>;

    constexpr HandlerSafeHeap() noexcept = default;
    HandlerSafeHeap(const HandlerSafeHeap&) = delete;
    HandlerSafeHeap& operator=(const HandlerSafeHeap&) = delete;
    ~HandlerSafeHeap() { drain(); }

    [[nodiscard, gnu::always_inline]] void* malloc(std::size_t size) noexcept {
        void* const object = SuperHeap::tryMallocFast(size);
        return object != nullptr ? object : mallocSlow(size);
    }

    [[gnu::always_inline]] void free(void* object) noexcept {
        if (!SuperHeap::tryFreeFast(object)) {
            freeSlow(object);
        }
    }

    [[nodiscard, gnu::always_inline]] void* tryMallocFast(std::size_t size) noexcept {
        return SuperHeap::tryMallocFast(size);
    }
    [[nodiscard, gnu::always_inline]] bool tryFreeFast(void* object) noexcept {
        return SuperHeap::tryFreeFast(object);
    }

    /// Serves a request that the fast path has refused: checks where the thread is.
    [[nodiscard]] void* mallocSlow(std::size_t size) noexcept {
        if (isInside()) [[unlikely]] {
            return arena_.memalign(alignment, size);
        }
        DeferredWork::look();
        const Entry entry;
        drain();
        return SuperHeap::mallocSlow(size);
    }
    /// Inlined, so that its return address is that of the function that the program called. It is
    /// that of the program if the compiler turned the call into a jump.
    [[gnu::always_inline]] void freeSlow(void* object) noexcept {
        if constexpr (SharedUnitCachingHeap<SuperHeap>) {
            if (SuperHeap::freeAmongOthers(object)) {
                return;
            }
        }
        if (isHandlers(object)) [[unlikely]] {
            arena_.free(object);
            return;
        }
        if (isInside()) [[unlikely]] {
            deferred_.add(object);
            return;
        }
        {
            const Entry entry;
            drain();
            SuperHeap::freeSlow(object);
        }
        DeferredWork::lookInFree(__builtin_return_address(0)); // also what this free deferred
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        if (isInside()) [[unlikely]] {
            void* const object = arena_.memalign(alignment, size);
            return object == nullptr ? nullptr : std::memset(object, 0, size);
        }
        const Entry entry;
        drain();
        return SuperHeap::zalloc(size);
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        if (isInside()) [[unlikely]] {
            return arena_.memalign(align, size);
        }
        const Entry entry;
        drain();
        return SuperHeap::memalign(align, size);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        if (isHandlers(object)) [[unlikely]] {
            return Arena::getSize(object);
        }
        if (SlowPath::entered()) [[unlikely]] {
            return sizeFromInside(object);
        }
        const Entry entry;
        return SuperHeap::getSize(object);
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap>
    {
        if (isHandlers(object)) [[unlikely]] {
            return size <= Arena::getSize(object);
        }
        if (SlowPath::entered()) [[unlikely]] {
            return size <= sizeFromInside(object);
        }
        const Entry entry;
        return SuperHeap::resize(object, size);
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        if (isHandlers(object) || isInside()) [[unlikely]] {
            return nullptr;
        }
        const Entry entry;
        return SuperHeap::relocate(object, size);
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        if (isInside()) {
            return false;
        }
        const Entry entry;
        drain();
        return SuperHeap::trim(pad);
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        if (isInside()) {
            return;
        }
        const Entry entry;
        SuperHeap::measure(usage);
        usage.mapped += arena_.bytes();
    }

    std::uint32_t purgeExpired() noexcept
        requires PurgeableHeap<SuperHeap>
    {
        if (isInside()) {
            return 0;
        }
        const Entry entry;
        return SuperHeap::purgeExpired();
    }

    [[nodiscard]] bool owns(const void* object) noexcept
        requires OwningHeap<SuperHeap>
    {
        return SuperHeap::owns(object) || isHandlers(object);
    }

    /// Whether a handler that interrupts this thread needs `beforeHandler` and `afterHandler`.
    [[nodiscard]] static bool inRequest() noexcept {
        return SlowPath::entered() || Suspended::isSuspended();
    }

    using BeforeHandler = typename Suspended::Before;

    /// Suspends the fast path until `afterHandler`, for a handler that runs on a part of the stack.
    /// It interrupted the thread at the stack address `interrupted`.
    [[nodiscard]] static BeforeHandler beforeHandler(StackPart part, Address interrupted) noexcept {
        if (!SlowPath::entered()) {
            Suspended::checkSuspended(interrupted);
        }
        return Suspended::suspend(SuperHeap::threadState(), part);
    }
    static void afterHandler(const BeforeHandler& before) noexcept { Suspended::resume(before); }

    /// Sets the flag until the fork is over, so that other atfork handlers may allocate. The thread
    /// may be in a handler that interrupted a slow path. Then the locks of that request are left to
    /// it, in the parent and in the child. If the request may still wait for a lock, the heap below
    /// takes the locks that the thread does not hold.
    void beforeFork() noexcept {
        Fork& fork = ForkOf::mine();
        fork = {SlowPath::mark(true), false};
        if constexpr (ForkableHeap<SuperHeap>) {
            if constexpr (ReentryDetectingHeap<SuperHeap>) {
                fork.waiting =
                    fork.inside && !platform::singleThreaded() && !SuperHeap::heldByThisThread();
            }
            if (!fork.inside || fork.waiting) {
                SuperHeap::beforeFork();
            }
        }
    }

    void afterForkInParent() noexcept {
        const Fork fork = std::exchange(ForkOf::mine(), Fork{});
        if constexpr (ForkableHeap<SuperHeap>) {
            if (!fork.inside || fork.waiting) {
                SuperHeap::afterForkInParent();
            }
        }
        SlowPath::mark(fork.inside);
    }

    void afterForkInChild() noexcept {
        const Fork fork = std::exchange(ForkOf::mine(), Fork{});
        if constexpr (ForkableHeap<SuperHeap>) {
            if (!fork.inside || fork.waiting) {
                SuperHeap::afterForkInChild();
            }
        }
        SlowPath::mark(fork.inside);
    }

    using Forwards::describe;
    using Forwards::inspect;
    using Forwards::walk;

private:
    /// Whether the thread is in a slow path, in a fork, or in a handler that interrupted the heap.
    [[nodiscard, gnu::always_inline]] static bool isInside() noexcept {
        return SlowPath::entered() ||
               (Suspended::isSuspended() &&
                Suspended::checkSuspended(addressOf(__builtin_frame_address(0))));
    }

    [[nodiscard]] bool isHandlers(const void* object) const noexcept {
        return arena_.used() && Arena::owns(object);
    }

    std::size_t sizeFromInside(void* object) noexcept {
        if constexpr (UnlockedSizeHeap<SuperHeap>) {
            return SuperHeap::getSizeUnlocked(object);
        } else {
            return SuperHeap::getSize(object);
        }
    }

    void drain() noexcept {
        deferred_.drain([this](void* object) { SuperHeap::free(object); });
    }

    Arena arena_;
    DeferredFrees deferred_;
};

} // namespace heapwright
