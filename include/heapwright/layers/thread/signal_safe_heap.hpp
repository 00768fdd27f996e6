// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps a thread from entering the heap below twice. This can happen in a signal handler that
// interrupted malloc, or in an atfork handler that allocates during a fork. See
// docs/explanation/signals.md for the state diagram.
//
// Each request sets a flag of its thread. The exit hooks of the layers below set another
// (`SlowPath`). A request that finds one of them set allocates from an emergency arena. It frees an
// arena object to the arena, and defers the free of any other object. The next `free`, `trim` or
// allocation performs it, but not an allocation that a cache below serves at once.
//
// Invariant: no request waits for a lock that its own thread holds.
// Cost: a thread-local flag set and cleared, a load of a list's head, a range check on free.
//
// Example: SignalSafeHeap<LockedHeap<FutexLock, MallocHeap>>
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/rarely.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/structure/cache/fast_path.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/signal/deferred_frees.hpp>
#include <heapwright/structure/signal/handler_arena.hpp>
#include <heapwright/structure/signal/request_state.hpp>
#include <heapwright/structure/thread/deferred_work.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace heapwright {

template <SizedHeap SuperHeap>
    requires MaxAlignedHeap<SuperHeap> && AnyOrderHeap<SuperHeap>
class SignalSafeHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    using Inside = platform::PerThread<SignalSafeHeap, bool>;
    /// Whether this thread forks inside a request.
    using ForkedInside = platform::PerThread<Inside, bool>;
    /// Whether, in addition, the interrupted request waits for the lock.
    using ForkedWaiting = platform::PerThread<ForkedInside, bool>;

    /// Sets the flag for a scope. The fences keep accesses to the heap inside the scope, as a
    /// handler on this thread sees them.
    class Entry {
    public:
        Entry() noexcept {
            Inside::mine() = true;
            std::atomic_signal_fence(std::memory_order_seq_cst);
        }
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;
        ~Entry() {
            std::atomic_signal_fence(std::memory_order_seq_cst);
            Inside::mine() = false;
        }
    };

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr bool processLocal = true; ///< its arena is a mapping of the process
    static constexpr std::string_view caption =
        "serves a signal handler that interrupted the heap from an arena beside it";
    /// The largest size of `freeKnownFast`; 0 without it.
    static constexpr std::size_t mostKnownFast = [] {
        if constexpr (FastKnownFreeHeap<SuperHeap>) {
            return SuperHeap::mostKnownFast;
        } else {
            return std::size_t{0};
        }
    }();
    using Below = Heaps<SuperHeap>;

    constexpr SignalSafeHeap() noexcept = default;
    ~SignalSafeHeap() { drain(); }

    [[nodiscard, gnu::always_inline]] void* malloc(std::size_t size) noexcept {
        if (busy()) [[unlikely]] {
            return mallocAside(size, *this);
        }
        if constexpr (FastPathHeap<SuperHeap>) {
            void* const object = tryMallocFast(size);
            return object != nullptr ? object : mallocSlow(size, *this);
        } else {
            const Entry entry;
            return SuperHeap::malloc(size);
        }
    }

    /// Leaves deferred frees and deferred work to `malloc`.
    [[nodiscard, gnu::always_inline]] void* tryMallocKnown(std::size_t size,
                                                           std::size_t& usable) noexcept
        requires FastKnownMallocHeap<SuperHeap>
    {
        if (platform::rarely(isInside())) {
            return nullptr;
        }
        const Entry entry;
        return SuperHeap::tryMallocKnown(size, usable);
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

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        if (isInside()) [[unlikely]] {
            return arena_.memalign(align, size);
        }
        const Entry entry;
        drain();
        return SuperHeap::memalign(align, size);
    }

    [[gnu::always_inline]] void free(void* object) noexcept {
        if (arena_.owns(object)) [[unlikely]] {
            arena_.free(object);
            return;
        }
        if (freesAside()) [[unlikely]] {
            freeAside(object, *this);
            return;
        }
        if constexpr (FastPathHeap<SuperHeap>) {
            if (!tryFreeFast(object)) [[unlikely]] {
                freeSlow(object, *this);
            }
        } else {
            const Entry entry;
            SuperHeap::free(object);
        }
    }

    [[gnu::always_inline]] void freeKnown(void* object, std::size_t usable) noexcept
        requires KnownSizeFreeHeap<SuperHeap>
    {
        if (arena_.owns(object)) [[unlikely]] {
            arena_.free(object);
        } else if (freesAside()) [[unlikely]] {
            freeAside(object, *this);
        } else {
            const Entry entry;
            SuperHeap::freeKnown(object, usable);
        }
    }

    /// The arena has no such object.
    [[gnu::always_inline]] void freeKnownFast(void* object, std::size_t usable) noexcept
        requires FastKnownFreeHeap<SuperHeap>
    {
        if (platform::rarely(freesAside())) {
            freeAside(object, *this);
        } else {
            const Entry entry;
            SuperHeap::freeKnownFast(object, usable);
        }
    }

    [[nodiscard, gnu::always_inline]] std::size_t tryGetSizeFast(void* object) noexcept
        requires FastSizeHeap<SuperHeap>
    {
        return platform::rarely(arena_.owns(object)) ? 0 : SuperHeap::tryGetSizeFast(object);
    }

    [[nodiscard, gnu::always_inline]] std::size_t getSize(void* object) noexcept {
        if (arena_.owns(object)) [[unlikely]] {
            return EmergencyArena::getSize(object);
        }
        if constexpr (FastSizeHeap<SuperHeap>) {
            if (const std::size_t size = SuperHeap::tryGetSizeFast(object); size != 0) [[likely]] {
                return size;
            }
        }
        return getSizeSlow(object, *this);
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap>
    {
        if (arena_.owns(object)) [[unlikely]] {
            return size <= EmergencyArena::getSize(object);
        }
        if (isInside()) [[unlikely]] {
            return size <= sizeFromInside(object);
        }
        const Entry entry;
        return SuperHeap::resize(object, size);
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        if (arena_.owns(object) || isInside()) [[unlikely]] {
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
        return arena_.owns(object) || SuperHeap::owns(object);
    }

    /// Sets the flag until the fork is over, so that other atfork handlers may allocate. If the
    /// thread is in a handler that interrupted a request, the lock is left to that request, in the
    /// parent and in the child. If the request still waits for the lock, the fork takes it.
    void beforeFork() noexcept {
        if (isInside()) {
            ForkedInside::mine() = true;
            if constexpr (ReentryDetectingHeap<SuperHeap>) {
                if (!platform::singleThreaded() && !SuperHeap::heldByThisThread()) {
                    ForkedWaiting::mine() = true;
                    SuperHeap::beforeFork();
                }
            }
            return;
        }
        Inside::mine() = true;
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::beforeFork();
        }
    }

    void afterForkInParent() noexcept {
        const bool inner = std::exchange(ForkedInside::mine(), false);
        const bool waiting = std::exchange(ForkedWaiting::mine(), false);
        if constexpr (ForkableHeap<SuperHeap>) {
            if (!inner || waiting) {
                SuperHeap::afterForkInParent();
            }
        }
        Inside::mine() = inner && !isInExitHook();
    }

    void afterForkInChild() noexcept {
        const bool inner = std::exchange(ForkedInside::mine(), false);
        const bool waiting = std::exchange(ForkedWaiting::mine(), false);
        if constexpr (ForkableHeap<SuperHeap>) {
            if (!inner || waiting) {
                SuperHeap::afterForkInChild();
            }
        }
        Inside::mine() = inner && !isInExitHook();
    }

    using Forwards::inspect; ///< Pre: the heap is quiescent. The arena is not counted.
    using Forwards::walk;

private:
    /// Whether the thread is in a request, in a fork, or in an exit hook of a layer below.
    [[nodiscard, gnu::always_inline]] static bool isInside() noexcept {
        return Inside::mine() || isInExitHook();
    }

    [[nodiscard, gnu::always_inline]] static bool isInExitHook() noexcept {
        if constexpr (anyRunsAtThreadExit(Heaps<SuperHeap>{})) {
            return SlowPath::entered();
        } else {
            return false;
        }
    }

    /// Whether one of the heaps, or one below them, declares an exit hook.
    template <class... H>
    static consteval bool anyRunsAtThreadExit(Heaps<H...> /*heaps*/) {
        return (... || (ThreadExitingHeap<H> || anyBelowRunsAtThreadExit<H>()));
    }
    template <class H>
    static consteval bool anyBelowRunsAtThreadExit() {
        if constexpr (LayeredHeap<H>) {
            return anyRunsAtThreadExit(typename H::Below{});
        } else {
            return false;
        }
    }

    std::size_t sizeFromInside(void* object) noexcept {
        if constexpr (UnlockedSizeHeap<SuperHeap>) {
            return SuperHeap::getSizeUnlocked(object);
        } else {
            return SuperHeap::getSize(object);
        }
    }

    /// Whether deferred work is due (structure/thread/deferred_work.hpp). Only heaps with
    /// `purgeExpired` have such work.
    [[nodiscard]] static bool deferredWorkDue() noexcept {
        if constexpr (PurgeableHeap<SuperHeap>) {
            return DeferredWork::due();
        } else {
            return false;
        }
    }
    static void findDeferredWork() noexcept {
        if constexpr (PurgeableHeap<SuperHeap>) {
            DeferredWork::look();
        }
    }

    /// Whether a free is deferred, or performs deferred frees first.
    [[nodiscard, gnu::always_inline]] bool freesAside() const noexcept {
        return isInside() || deferred_.any();
    }

    /// Whether the flag is set or there is work to do first. `malloc` tests both at once and jumps
    /// to a function out of line if so. These functions are static, so that their argument stays
    /// in its register.
    [[nodiscard]] bool busy() const noexcept { return freesAside() || deferredWorkDue(); }

    [[gnu::cold, gnu::noinline]] static void* mallocAside(std::size_t size,
                                                          SignalSafeHeap& heap) noexcept {
        if (isInside()) {
            return heap.arena_.memalign(alignment, size);
        }
        findDeferredWork();
        const Entry entry;
        heap.drain();
        return static_cast<SuperHeap&>(heap).malloc(size);
    }

    [[gnu::cold, gnu::noinline]] static void freeAside(void* object,
                                                       SignalSafeHeap& heap) noexcept {
        if (isInside()) {
            heap.deferred_.add(object);
            return;
        }
        const Entry entry;
        heap.drain();
        static_cast<SuperHeap&>(heap).free(object);
    }

    /// The fast path needs no call and no stack frame. The rest is a jump to a function out of
    /// line.
    [[nodiscard, gnu::always_inline]] void* tryMallocFast(std::size_t size) noexcept
        requires FastPathHeap<SuperHeap>
    {
        const Entry entry;
        return SuperHeap::tryMallocFast(size);
    }
    [[nodiscard, gnu::always_inline]] bool tryFreeFast(void* object) noexcept
        requires FastPathHeap<SuperHeap>
    {
        const Entry entry;
        return SuperHeap::tryFreeFast(object);
    }
    [[gnu::noinline]] static void* mallocSlow(std::size_t size, SignalSafeHeap& heap) noexcept {
        const Entry entry;
        return static_cast<SuperHeap&>(heap).malloc(size);
    }
    [[gnu::noinline]] static void freeSlow(void* object, SignalSafeHeap& heap) noexcept {
        const Entry entry;
        static_cast<SuperHeap&>(heap).free(object);
    }

    [[nodiscard, gnu::noinline]] static std::size_t getSizeSlow(void* object,
                                                                SignalSafeHeap& heap) noexcept {
        if (isInside()) [[unlikely]] {
            return heap.sizeFromInside(object);
        }
        const Entry entry;
        return static_cast<SuperHeap&>(heap).getSize(object);
    }

    void drain() noexcept {
        deferred_.drain([this](void* object) { SuperHeap::free(object); });
    }

    EmergencyArena arena_;
    DeferredFrees deferred_;
};

} // namespace heapwright
