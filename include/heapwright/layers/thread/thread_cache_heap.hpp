// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A cache of freed objects for each thread, in front of a heap that threads share. A freed object
// serves the thread's next request of its size class, without a lock.
//
// A thread's cache is that of its slot (`threadSlot`); there are `Slots`. Only the slot's owner
// accesses it. It holds objects up to the largest class and `MostBytes` bytes in all. `Overflow`
// says how many objects move at once, which objects leave a full cache, and which ones it may keep
// (structure/cache/cache_overflow.hpp). The next owner of a slot inherits its cache. A thread
// without a slot uses the heap below.
//
// `flush` and `trim` do not touch the caches of other threads. `measure` counts all caches, `clear`
// forgets them, and the destructor returns them. When the heap below has no memory, the caller's
// cache is returned first.
//
// Freeing, resizing or measuring an object that waits in any thread's cache ends the program
// (structure/cache/caching_heap.hpp). Let the heap below check other objects under its lock, and
// not a layer above this one.
// Cost: the thread's slot, a size class, and one list.
// Source: the thread-local buffers of Hoard 3.8 and the lookaside lists of nedmalloc; the key is
// after glibc's tcache.
//
// Example: ThreadCacheHeap<Exact<15>, 64 * KiB, Batches<8>, 64, LockedHeap<FutexLock, SizeHeap<ChunkHeap<64 * KiB, 8, MmapHeap>>>>
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/sizeclass/size_classes.hpp>
#include <heapwright/structure/cache/cache_overflow.hpp>
#include <heapwright/structure/cache/caching_heap.hpp>
#include <heapwright/structure/cache/classifying_heap.hpp>
#include <heapwright/structure/cache/object_cache.hpp>
#include <heapwright/structure/object/object_chain.hpp>
#include <heapwright/sync/thread_slot.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright {

template <SizeClasses Classes, std::size_t MostBytes, CacheOverflow Overflow, std::size_t Slots,
          ConcurrentHeap SuperHeap>
    requires SizedHeap<SuperHeap> && MaxAlignedHeap<SuperHeap> && AnySizeHeap<SuperHeap> &&
             AnyOrderHeap<SuperHeap> && (Overflow::ownBelow == 0 || HomeHeap<SuperHeap>)
class ThreadCacheHeap
    : public CachingHeap<ThreadCacheHeap<Classes, MostBytes, Overflow, Slots, SuperHeap>, Classes,
                         SuperHeap> {
    static_assert(Slots >= 1 && Slots <= threadSlots);
    static_assert(MostBytes >= Classes::sizeOf(Classes::count - 1));
    static_assert(Overflow::age == 0 || Classes::sizeOf(0) >= sizeof(AgedObject));

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
    static constexpr bool slowStart = Overflow::firstBytes != 0;
    struct alignas(cacheLine) Slot {
        Cache cache;
        std::size_t victim = 0; ///< the class that returns objects next when another one needs room
        std::uint32_t frees = 0; ///< the number of objects put so far, if objects have an age
        /// The number of objects that the next miss of a class takes, if fetches start slowly; 0
        /// before the first miss.
        [[no_unique_address]] std::array<std::uint32_t, slowStart ? Classes::count : 0> fetches{};
    };

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr bool concurrent = true;
    static constexpr bool processLocal = true; ///< slots belong to the threads of a process
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

    /// An object of this thread's cache, or null.
    [[nodiscard, gnu::always_inline]] void* tryMallocFast(std::size_t size) noexcept {
        const std::size_t index = Raised::classFor(size);
        const std::size_t slot = threadSlotIfTaken();
        return Waiting::has(index) && slot < Slots ? slots_[slot].cache.take(index) : nullptr;
    }

    /// An object of this thread's cache, else one that the heap below holds.
    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept {
        void* const object = tryMallocFast(size);
        return object != nullptr ? object : this->heldBelow(size);
    }

    /// Puts the object into this thread's cache if it has room.
    [[nodiscard, gnu::always_inline]] bool tryFreeFast(void* object) noexcept {
        const std::size_t index = classOfLive(object, "free");
        const std::size_t slot = threadSlotIfTaken();
        return Waiting::has(index) && slot < Slots && admits(object, index) &&
               keeps(slots_[slot], object, index);
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
    /// The next owners of the slots inherit the caches of threads that the child does not have. An
    /// object that such a thread was moving is lost.
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
    /// Out of line, as `freeBelow` is. Static, so that the size stays in its register.
    [[gnu::noinline]] static void* mallocBelow(std::size_t size, ThreadCacheHeap& heap) noexcept {
        const std::size_t index = Raised::classFor(size);
        const std::size_t slot = threadSlot();
        if (Waiting::has(index) && slot < Slots) {
            return heap.orAfterFlush([&heap, slot, index] { return heap.refilled(slot, index); });
        }
        return heap.orAfterFlush([&heap, size] { return heap.below().malloc(rounded(size)); });
    }

    /// Takes an object from below. If the heap below has batches, further objects fill the cache.
    void* refilled(std::size_t slot, std::size_t index) noexcept {
        const std::size_t size = Classes::sizeOf(index);
        if constexpr (Overflow::batch > 1 && BatchingHeap<SuperHeap>) {
            Cache& cache = slots_[slot].cache;
            const std::size_t room = (MostBytes - std::min(cache.bytes(), MostBytes)) / size;
            ObjectLink* const first =
                below().mallocBatch(size, std::min(1 + room, fetch(slots_[slot], index)));
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

    /// The number of objects of a class that move at once: a small part of the cache.
    static constexpr std::size_t batchOf(std::size_t index) noexcept {
        return std::clamp(MostBytes / 16 / Classes::sizeOf(index), std::size_t{1}, Overflow::batch);
    }

    /// The number of objects that a miss of a class takes.
    static std::size_t fetch(Slot& slot, std::size_t index) noexcept {
        const std::size_t most = batchOf(index);
        if constexpr (slowStart) {
            constexpr std::size_t bytes = Overflow::firstBytes;
            const std::size_t first = (bytes - 1) / Classes::sizeOf(index) + 1;
            std::uint32_t& next = slot.fetches[index];
            const std::size_t now = std::min(most, next != 0 ? next : first);
            next = static_cast<std::uint32_t>(now + 1);
            return now;
        }
        return most;
    }

    /// Whether the cache may keep objects of the class at all, and this one.
    [[nodiscard, gnu::always_inline]] bool admits(void* object, std::size_t index) noexcept {
        if constexpr (Overflow::ownBelow != 0) {
            return Classes::sizeOf(index) >= Overflow::ownBelow || below().isHome(object);
        }
        return true;
    }

    /// Puts the object into the cache. Returns false if the cache is full.
    [[nodiscard, gnu::always_inline]] bool keeps(Slot& slot, void* object,
                                                 std::size_t index) noexcept {
        if constexpr (Overflow::age != 0) {
            AgedObject::stamp(object, slot.frees);
        }
        const bool kept = slot.cache.template put<MostBytes>(object, index, secret_.get());
        slot.frees += kept && Overflow::age != 0 ? 1U : 0U;
        return kept;
    }

    /// Frees an object that the full cache did not take, or the first one of the thread.
    [[gnu::noinline]] static void freeBelow(void* object, ThreadCacheHeap& heap) noexcept {
        const std::size_t index = classOfLiveIn<Classes>(heap.below(), object, "free");
        const std::size_t slot = threadSlot();
        if (Waiting::has(index) && slot < Slots && heap.admits(object, index)) {
            heap.makeRoom(heap.slots_[slot], index);
            if (heap.keeps(heap.slots_[slot], object, index)) {
                return;
            }
        }
        heap.below().free(object);
    }

    /// Makes room for an object of a class, if the overflow policy does so.
    void makeRoom(Slot& slot, std::size_t index) noexcept {
        if constexpr (Overflow::age != 0) {
            returnOldest(slot, index);
        } else if constexpr (Overflow::batch > 1) {
            returnBatches(slot, index);
        }
    }

    /// Returns the objects of at least an age, in frees of the thread. Halves the age until there
    /// is room for an object of a class.
    void returnOldest(Slot& slot, std::size_t index) noexcept {
        const std::size_t most = MostBytes - Classes::sizeOf(index);
        for (std::uint32_t age = Overflow::age; slot.cache.bytes() > most; age /= 2) {
            for (std::size_t each = 0; each < Classes::count; ++each) {
                handDown(slot.cache.takeFrom(each, [&slot, age](const ObjectLink* object) {
                    return slot.frees - AgedObject::stampOf(object) >= age;
                }));
            }
            if (age == 0) {
                slot.cache.clear(); // a fork interrupted an owner, and its count is wrong
            }
        }
    }

    /// Returns batches until there is room for an object of a class: first objects of that class,
    /// then of the next class that has any.
    void returnBatches(Slot& slot, std::size_t index) noexcept {
        const std::size_t most = MostBytes - Classes::sizeOf(index);
        for (std::size_t empty = 0; slot.cache.bytes() > most;) {
            if (!slot.cache.isEmpty(index)) {
                handDown(slot.cache.takeChain(index, batchOf(index)));
                empty = 0;
            } else if (++empty <= Classes::count) {
                index = slot.victim = (slot.victim + 1) % Classes::count;
            } else {
                // The cache is empty: a fork interrupted an owner, and its count is wrong.
                slot.cache.clear();
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
