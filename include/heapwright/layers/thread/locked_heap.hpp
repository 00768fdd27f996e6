// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One lock around every verb of the heap below: the simplest way to share a heap between threads.
//
// A fork holds the lock, so that the child finds the heap quiescent. The child makes the lock free,
// because the threads that may have waited for it do not exist there.
//
// Example: LockedHeap<FutexLock, MallocHeap>
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/cache/classifying_heap.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/object/object_chain.hpp>
#include <heapwright/sync/lock.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright {

template <Lock Mutex, Heap SuperHeap>
class LockedHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    using Hold = Guard<Mutex>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr bool concurrent = true;
    static constexpr bool processLocal = !InterProcessLock<Mutex>;
    static constexpr bool acceptsForeignObjects = ForeignFreeHeap<SuperHeap>;
    static constexpr bool ownsLockFree = LockFreeOwningHeap<SuperHeap>;
    static constexpr bool cacheOnly = CacheOnlyHeap<SuperHeap>;
    static constexpr std::size_t leastObject = leastObjectOf<SuperHeap>;
    static constexpr std::string_view caption = "lets one thread in at a time, for every verb";
    using Below = Heaps<SuperHeap>;

    [[nodiscard, gnu::always_inline]] void* malloc(std::size_t size) noexcept {
        if (!lock_.tryLock()) [[unlikely]] {
            return mallocAfterWaiting(size, *this);
        }
        void* const object = SuperHeap::malloc(size);
        lock_.unlock();
        return object;
    }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        const Hold hold(lock_);
        return SuperHeap::mallocHeld(size);
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        const Hold hold(lock_);
        return SuperHeap::zalloc(size);
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        const Hold hold(lock_);
        return SuperHeap::memalign(align, size);
    }

    [[gnu::always_inline]] void free(void* object) noexcept {
        if (!lock_.tryLock()) [[unlikely]] {
            freeAfterWaiting(object, *this);
            return;
        }
        SuperHeap::free(object);
        lock_.unlock();
    }

    void free(void* object, std::size_t size) noexcept
        requires SizedFreeHeap<SuperHeap>
    {
        const Hold hold(lock_);
        SuperHeap::free(object, size);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept
        requires SizedHeap<SuperHeap>
    {
        const Hold hold(lock_);
        return SuperHeap::getSize(object);
    }

    /// For a caller that may hold the lock: a signal handler. The result is right for a live
    /// object, because only its owner can change its size.
    [[nodiscard]] std::size_t getSizeUnlocked(void* object) noexcept
        requires SizedHeap<SuperHeap>
    {
        return SuperHeap::getSize(object);
    }

    /// Takes no lock either.
    [[nodiscard]] std::size_t classOfLive(void* object, std::string_view routine) noexcept
        requires ClassReportingHeap<SuperHeap>
    {
        return SuperHeap::classOfLive(object, routine);
    }
    [[nodiscard]] static constexpr std::size_t sizeOfClass(std::size_t index) noexcept
        requires ClassReportingHeap<SuperHeap>
    {
        return SuperHeap::sizeOfClass(index);
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap>
    {
        const Hold hold(lock_);
        return SuperHeap::resize(object, size);
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        const Hold hold(lock_);
        return SuperHeap::relocate(object, size);
    }

    [[nodiscard]] bool tryRetain(void* object) noexcept
        requires RetainingHeap<SuperHeap>
    {
        const Hold hold(lock_);
        return SuperHeap::tryRetain(object);
    }

    /// Several objects under one acquisition of the lock.
    [[nodiscard]] ObjectLink* mallocBatch(std::size_t size, std::size_t count) noexcept
        requires AnyOrderHeap<SuperHeap>
    {
        const Hold hold(lock_);
        if constexpr (BatchingHeap<SuperHeap>) {
            return SuperHeap::mallocBatch(size, count);
        } else {
            return mallocChain(static_cast<SuperHeap&>(*this), size, count);
        }
    }

    void freeBatch(ObjectLink* chain) noexcept
        requires AnyOrderHeap<SuperHeap>
    {
        const Hold hold(lock_);
        if constexpr (BatchingHeap<SuperHeap>) {
            SuperHeap::freeBatch(chain);
        } else {
            freeChain(static_cast<SuperHeap&>(*this), chain);
        }
    }

    bool flush() noexcept
        requires FlushableHeap<SuperHeap>
    {
        const Hold hold(lock_);
        return SuperHeap::flush();
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        const Hold hold(lock_);
        return SuperHeap::trim(pad);
    }

    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        const Hold hold(lock_);
        SuperHeap::clear();
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        const Hold hold(lock_);
        SuperHeap::measure(usage);
    }

    std::uint32_t purgeExpired() noexcept
        requires PurgeableHeap<SuperHeap>
    {
        const Hold hold(lock_);
        return SuperHeap::purgeExpired();
    }

    /// Takes no lock, because a fork or `beforeFork` already holds it, as for `walk`.
    void inspect(HeapSnapshot& snapshot) noexcept
        requires InspectableHeap<SuperHeap>
    {
        SuperHeap::inspect(snapshot);
        if constexpr (CountingLock<Mutex>) {
            snapshot.sourceLock.add(lock_.takes(), lock_.waits());
        }
    }
    /// Takes the lock unless the heap below needs none for this.
    [[nodiscard]] bool owns(const void* object) noexcept
        requires OwningHeap<SuperHeap>
    {
        if constexpr (LockFreeOwningHeap<SuperHeap>) {
            return SuperHeap::owns(object);
        } else {
            const Hold hold(lock_);
            return SuperHeap::owns(object);
        }
    }

    /// Runs `body` on the heap below, inside the lock, if the lock is free. Returns whether it did.
    template <class Body>
    [[nodiscard]] bool attempt(Body body) noexcept {
        if (!lock_.tryLock()) {
            return false;
        }
        body(static_cast<SuperHeap&>(*this));
        lock_.unlock();
        return true;
    }

    void beforeFork() noexcept {
        lock_.lock();
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::beforeFork();
        }
    }

    /// For a handler that interrupted this thread while it held or took the lock.
    [[nodiscard]] bool heldByThisThread() const noexcept { return lock_.heldByThisThread(); }

    void afterForkInParent() noexcept {
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::afterForkInParent();
        }
        lock_.unlock();
    }

    void afterForkInChild() noexcept {
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::afterForkInChild();
        }
        lock_.reset();
    }

    using Forwards::check; ///< takes no lock, because the caller avoids it
    using Forwards::walk;

private:
    /// The slow parts of the two main verbs are out of line, so that the fast paths save no
    /// registers over a call. They are static, so that the arguments stay in their registers.
    [[gnu::cold, gnu::noinline]] static void* mallocAfterWaiting(std::size_t size,
                                                                 LockedHeap& heap) noexcept {
        const Hold hold(heap.lock_);
        return static_cast<SuperHeap&>(heap).malloc(size);
    }
    [[gnu::cold, gnu::noinline]] static void freeAfterWaiting(void* object,
                                                              LockedHeap& heap) noexcept {
        const Hold hold(heap.lock_);
        static_cast<SuperHeap&>(heap).free(object);
    }

    Mutex lock_;
};

} // namespace heapwright
