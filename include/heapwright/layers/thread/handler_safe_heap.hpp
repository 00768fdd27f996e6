// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Lets a signal handler that interrupted the heap below allocate and free nevertheless, without a
// flag on the way of who is not interrupted (`SignalSafeHeap` has one).
//
// What the heap below does at once works on a state of the thread. Who runs a handler tells this
// layer before and after (`beforeHandler`, `afterHandler`: native/preload/signal_handlers.hpp), if
// the handler interrupted the heap: then the state is out of sight, the heap below refuses to do
// anything at once, and only then is it asked who is here. Somebody inside, in a handler or in a
// fork, gets memory from an arena beside the heap; what is freed there goes back to it, known by
// its owner tag, and what is the heap's waits on a lock-free list for the next ordinary slow path.
// So nothing waits for a lock which its own thread holds. Where nobody tells of handlers, they may
// not use the heap: `SignalSafeHeap` is for that.
//
// Cost: none on a request that is served at once; a flag set and cleared, and one look at a list,
// on others.
//
// Example: HandlerSafeHeap<OwnerCacheHeap<LinearSlots<512, 512, 512>, CacheLimits<2 * KiB, 32, 512, 8, 32, 64 * KiB>, PlainFreelist, UniqueHeap<HeapName<3>, HoardHeap<LinearSlots<512, 512, 512>, OwnHeap<64>, Emptiness<1, 4, 1>, CleanLines, AlignedBlockHeap<16 * KiB, 1 * MiB, MmapHeap>>>>>
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
#include <heapwright/structure/signal/slow_path.hpp>
#include <heapwright/structure/signal/suspended_state.hpp>
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
    using Hidden = SuspendedState<typename SuperHeap::ThreadState>;
    using Entry = SlowPath::Entry;

    /// What a fork of this thread found, until it is over.
    struct Fork {
        bool inside;  ///< it was inside already
        bool waiting; ///< and the interrupted request was still waiting for another thread
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

    /// Once it was refused: here it is asked who is inside.
    [[nodiscard]] void* mallocSlow(std::size_t size) noexcept {
        if (isInside()) [[unlikely]] {
            return arena_.memalign(alignment, size);
        }
        DeferredWork::look();
        const Entry entry;
        drain();
        return SuperHeap::mallocSlow(size);
    }
    void freeSlow(void* object) noexcept {
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
        DeferredWork::look();
        const Entry entry;
        drain();
        SuperHeap::freeSlow(object);
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

    /// Whether this thread is inside, so that a handler which interrupts it must be told of.
    [[nodiscard]] static bool inRequest() noexcept {
        return SlowPath::entered() || Hidden::isSuspended();
    }

    using BeforeHandler = typename Hidden::Before;

    /// From here until `afterHandler` a handler runs on the given part of the stack; it interrupted
    /// the thread, perhaps inside the heap, at the stack address `interrupted`.
    [[nodiscard]] static BeforeHandler beforeHandler(StackPart part, Address interrupted) noexcept {
        if (!SlowPath::entered()) {
            Hidden::stillSuspended(interrupted);
        }
        return Hidden::hide(SuperHeap::threadState(), part);
    }
    static void afterHandler(const BeforeHandler& before) noexcept { Hidden::show(before); }

    /// From here until the fork is over this thread counts as inside, so that handlers of others
    /// may allocate. If it is inside a slow path already, in a handler that interrupted it, the
    /// locks are its own in the parent as in the child, and are left to the interrupted request;
    /// unless that was still waiting for one: then it is taken for the fork like any other time.
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

    using Forwards::inspect;
    using Forwards::walk;

private:
    /// Whether the thread is in a slow path, or in a handler that interrupted what is done at once.
    [[nodiscard, gnu::always_inline]] static bool isInside() noexcept {
        return SlowPath::entered() ||
               (Hidden::isSuspended() &&
                Hidden::stillSuspended(addressOf(__builtin_frame_address(0))));
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
        deferred_.workOff([this](void* object) { SuperHeap::free(object); });
    }

    Arena arena_;
    DeferredFrees deferred_;
};

} // namespace heapwright
