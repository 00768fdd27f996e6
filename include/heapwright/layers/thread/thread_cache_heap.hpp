// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A cache of freed objects for each thread, in front of a heap that threads share: what a thread
// frees serves its next request of that size class, and nobody waits for a lock.
//
// A thread's cache is that of its slot (`threadSlot`), of which there are `Slots`; only the slot's
// tenant touches it. It holds objects up to the largest of the classes and `MostBytes` bytes in
// all. An empty list is filled with up to `Batch` objects at once, a full cache gives up as many,
// in one step where the heap below can (`BatchingHeap`). What a thread leaves behind the next
// tenant of its slot inherits. A thread that has no slot here goes straight to the heap below.
//
// Other threads' caches stay as they are on `flush` and `trim`, which run beside them; what is in
// all of them is counted by `measure`, forgotten by `clear` and returned by the destructor. When
// there is no memory below, the caller's own cache goes there first.
//
// An object that is freed, resized or measured while it waits in any thread's cache ends the
// program (structure/cache/caching_heap.hpp says how); let the heap below check the others under
// its lock, not a layer above this one. Cost: the thread's slot, a size class, and one list. After
// the thread-local buffers of Hoard 3.8 and the lookaside lists of nedmalloc; the key is after
// glibc's tcache.
//
// Example: ThreadCacheHeap<Exact<15>, 64 * KiB, 8, 64, LockedHeap<FutexLock, SizeHeap<ChunkHeap<64 * KiB, 8, MmapHeap>>>>
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/sizeclass/size_classes.hpp>
#include <heapwright/structure/cache/caching_heap.hpp>
#include <heapwright/structure/cache/classifying_heap.hpp>
#include <heapwright/structure/cache/object_cache.hpp>
#include <heapwright/structure/object/object_chain.hpp>
#include <heapwright/sync/thread_slot.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace heapwright {

template <SizeClasses Classes, std::size_t MostBytes, std::size_t Batch, std::size_t Slots,
          ConcurrentHeap SuperHeap>
    requires SizedHeap<SuperHeap> && MaxAlignedHeap<SuperHeap> && AnySizeHeap<SuperHeap> &&
             AnyOrderHeap<SuperHeap>
class ThreadCacheHeap
    : public CachingHeap<ThreadCacheHeap<Classes, MostBytes, Batch, Slots, SuperHeap>, Classes,
                         SuperHeap> {
    static_assert(Batch >= 1 && Slots >= 1 && Slots <= threadSlots);
    static_assert(MostBytes >= Classes::sizeOf(Classes::count - 1));

    using Cache = ObjectCache<Classes>;
    using Caching = CachingHeap<ThreadCacheHeap, Classes, SuperHeap>;
    friend Caching;
    using typename Caching::Raised;
    using typename Caching::Waiting;

    using Caching::below;
    using Caching::classOfLive;
    using Caching::orAfterFlush;
    using Caching::rounded;
    using Caching::secret_;

    static constexpr std::size_t cacheLine = 64;
    struct alignas(cacheLine) Slot {
        Cache cache;
        std::size_t victim = 0; ///< the class that gives way next when another needs room
    };

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr bool concurrent = true;
    static constexpr bool processLocal = true; ///< slots are those of a process's threads
    static constexpr bool acceptsForeignObjects = ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption =
        "keeps what a thread frees for that thread, by size class";
    using Below = Heaps<SuperHeap>;

    constexpr ThreadCacheHeap() noexcept = default;
    ThreadCacheHeap(const ThreadCacheHeap&) = delete;
    ThreadCacheHeap& operator=(const ThreadCacheHeap&) = delete;
    ~ThreadCacheHeap() {
        for (Slot& slot : slots_) {
            emptyOut(slot);
        }
    }

    [[nodiscard, gnu::always_inline]] void* malloc(std::size_t size) noexcept {
        void* const object = tryMallocFast(size);
        return object != nullptr ? object : mallocBelow(size, *this);
    }

    /// From this thread's cache, or null.
    [[nodiscard, gnu::always_inline]] void* tryMallocFast(std::size_t size) noexcept {
        const std::size_t index = Raised::classFor(size);
        const std::size_t slot = threadSlotIfTaken();
        return Waiting::has(index) && slot < Slots ? slots_[slot].cache.take(index) : nullptr;
    }

    /// What waits in this thread's cache, else what is held below.
    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept {
        void* const object = tryMallocFast(size);
        return object != nullptr ? object : this->heldBelow(size);
    }

    /// Into this thread's cache if it has room.
    [[nodiscard, gnu::always_inline]] bool tryFreeFast(void* object) noexcept {
        const std::size_t index = classOfLive(object, "free");
        const std::size_t slot = threadSlotIfTaken();
        return Waiting::has(index) && slot < Slots &&
               slots_[slot].cache.template put<MostBytes>(object, index, secret_.get());
    }

    /// Pre: no other thread uses the heap.
    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        for (Slot& slot : slots_) {
            slot.cache.clear();
        }
        below().clear();
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        below().measure(usage);
        for (const Slot& slot : slots_) {
            usage.held += slot.cache.bytes();
            usage.heldCount += slot.cache.count();
        }
    }

    void beforeFork() noexcept {
        if constexpr (ForkableHeap<SuperHeap>) {
            below().beforeFork();
        }
    }
    void afterForkInParent() noexcept {
        if constexpr (ForkableHeap<SuperHeap>) {
            below().afterForkInParent();
        }
    }
    /// What the threads that are gone kept, others will inherit. One that was caught between its
    /// list and its program has that one object with it.
    void afterForkInChild() noexcept {
        if constexpr (ForkableHeap<SuperHeap>) {
            below().afterForkInChild();
        }
        keepOnlyMySlot();
    }

    [[nodiscard]] bool heldByThisThread() const noexcept
        requires ReentryDetectingHeap<SuperHeap>
    {
        return below().heldByThisThread();
    }

private:
    /// Out of line, as `freeBelow` is; static, so that the size stays in its register.
    [[gnu::noinline]] static void* mallocBelow(std::size_t size, ThreadCacheHeap& heap) noexcept {
        const std::size_t index = Raised::classFor(size);
        const std::size_t slot = threadSlot();
        if (Waiting::has(index) && slot < Slots) {
            return heap.orAfterFlush([&heap, slot, index] { return heap.refilled(slot, index); });
        }
        return heap.orAfterFlush([&heap, size] { return heap.below().malloc(rounded(size)); });
    }

    /// One object from below, and others into the cache where they come at once.
    void* refilled(std::size_t slot, std::size_t index) noexcept {
        const std::size_t size = Classes::sizeOf(index);
        if constexpr (Batch > 1 && BatchingHeap<SuperHeap>) {
            Cache& cache = slots_[slot].cache;
            const std::size_t room = (MostBytes - std::min(cache.bytes(), MostBytes)) / size;
            ObjectLink* const first = below().mallocBatch(size, std::min(1 + room, batchOf(index)));
            if (first == nullptr) {
                return nullptr;
            }
            for (ObjectLink* each = first->next; each != nullptr;) {
                ObjectLink* const next = each->next;
                if (!cache.template put<MostBytes>(each, index, secret_.get())) {
                    below().free(each);
                }
                each = next;
            }
            return first;
        } else {
            return below().malloc(size);
        }
    }

    /// How many objects of a class move at once: no large part of a cache.
    static constexpr std::size_t batchOf(std::size_t index) noexcept {
        return std::clamp(MostBytes / 16 / Classes::sizeOf(index), std::size_t{1}, Batch);
    }

    /// Room is made in a cache that is full, for the objects that are freed now.
    [[gnu::noinline]] static void freeBelow(void* object, ThreadCacheHeap& heap) noexcept {
        const std::size_t index = classOfLiveIn<Classes>(heap.below(), object, "free");
        const std::size_t slot = threadSlot();
        if (Waiting::has(index) && slot < Slots) {
            heap.makeRoom(heap.slots_[slot], index);
            if (heap.slots_[slot].cache.template put<MostBytes>(object, index,
                                                                heap.secret_.get())) {
                return;
            }
        }
        heap.below().free(object);
    }

    /// Hands batches down until there is room for one of a class: of that class, then of the next
    /// that has something.
    void makeRoom(Slot& slot, std::size_t index) noexcept {
        const std::size_t most = MostBytes - Classes::sizeOf(index);
        for (std::size_t empty = 0; slot.cache.bytes() > most;) {
            if (!slot.cache.isEmpty(index)) {
                handDown(slot.cache.takeChain(index, batchOf(index)));
                empty = 0;
            } else if (++empty <= Classes::count) {
                index = slot.victim = (slot.victim + 1) % Classes::count;
            } else {
                slot.cache.clear(); // it is empty: a tenant that a fork cut off left it miscounted
            }
        }
    }

    void handDown(ObjectLink* chain) noexcept {
        if (chain == nullptr) {
            return;
        }
        if constexpr (BatchingHeap<SuperHeap>) {
            below().freeBatch(chain);
        } else {
            freeChain(below(), chain);
        }
    }

    bool emptyOut(Slot& slot) noexcept {
        const bool any = slot.cache.count() != 0;
        for (std::size_t index = 0; index < Classes::count; ++index) {
            while (!slot.cache.isEmpty(index)) {
                handDown(slot.cache.takeChain(index, batchOf(index)));
            }
        }
        return any;
    }

    bool flushMine() noexcept {
        const std::size_t slot = threadSlot();
        return slot < Slots && emptyOut(slots_[slot]);
    }

    std::array<Slot, Slots> slots_;
};

} // namespace heapwright
