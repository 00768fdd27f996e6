// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A cache of freed objects for each thread, with a threshold. Objects beyond it go, in batches of
// `Target`, to depots that all threads share. Batches beyond the depots' limit go to the heap
// below, where objects may merge and serve other sizes. If one thread allocates and another frees,
// batches return through the depots, so that blowup is bounded.
//
// A thread has two lists for each size class (structure/cache/batch_lists.hpp), those of its slot
// (`threadSlot`); there are `Slots`. Whole batches move in constant time, so a thread takes a
// class's lock at most once for `Target` requests. A batch of large objects has fewer of them: at
// most 16 KiB, but at least two. A depot holds `Most` batches. The next owner of a slot inherits
// its lists. A thread without a slot uses the heap below.
//
// `flush` and `trim` return the caller's lists and the depots. The lists of other threads stay.
// When the heap below has no memory, the caller's lists and the depots go there first. Wrong frees
// are detected as in `ThreadCacheHeap`. Passive false sharing is possible: a thread keeps what it
// frees, whichever thread had it before.
// Cost: the thread's slot, a size class, and one list.
// Source: the kernel allocator of DYNIX (McKenney and Slingwine 1993).
//
// Example: BatchCacheHeap<Exact<15>, 8, 4, 64, LockedHeap<FutexLock, SizeHeap<ChunkHeap<64 * KiB, 8, MmapHeap>>>>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/sizeclass/size_classes.hpp>
#include <heapwright/structure/cache/batch_depot.hpp>
#include <heapwright/structure/cache/batch_lists.hpp>
#include <heapwright/structure/cache/cached_object.hpp>
#include <heapwright/structure/cache/caching_heap.hpp>
#include <heapwright/structure/cache/classifying_heap.hpp>
#include <heapwright/structure/object/object_chain.hpp>
#include <heapwright/structure/thread/fork_holds.hpp>
#include <heapwright/sync/thread_slot.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright {

template <SizeClasses Classes, std::size_t Target, std::size_t Most, std::size_t Slots,
          ConcurrentHeap SuperHeap>
    requires BatchingHeap<SuperHeap> && SizedHeap<SuperHeap> && MaxAlignedHeap<SuperHeap> &&
             AnySizeHeap<SuperHeap> && AnyOrderHeap<SuperHeap>
class BatchCacheHeap : public CachingHeap<BatchCacheHeap<Classes, Target, Most, Slots, SuperHeap>,
                                          Classes, SuperHeap> {
    static_assert(Target >= 2 && Most >= 1 && Slots >= 1 && Slots <= threadSlots);

    using Caching = CachingHeap<BatchCacheHeap, Classes, SuperHeap>;
    friend Caching;
    using typename Caching::Raised;
    using typename Caching::Waiting;

    using Caching::below;
    using Caching::classOfLive;
    using Caching::orAfterFlush;
    using Caching::rounded;
    using Caching::secret_;

    static constexpr std::size_t mostBytes = 16 * KiB;

    /// The number of objects in a batch, by class.
    static constexpr std::array<std::uint32_t, Classes::count> target = [] {
        std::array<std::uint32_t, Classes::count> table{};
        for (std::size_t index = 0; index < Classes::count; ++index) {
            table[index] = static_cast<std::uint32_t>(
                std::clamp(mostBytes / Classes::sizeOf(index), std::size_t{2}, Target));
        }
        return table;
    }();

    struct alignas(64) Slot {
        std::array<BatchLists, Classes::count> lists;
    };

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr bool concurrent = true;
    static constexpr bool processLocal = true; ///< slots belong to the threads of a process
    static constexpr bool acceptsForeignObjects = ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption =
        "keeps a thread's freed objects up to a threshold, exchanges them by batches";
    using Below = Heaps<SuperHeap>;

    constexpr BatchCacheHeap() noexcept = default;
    BatchCacheHeap(const BatchCacheHeap&) = delete;
    BatchCacheHeap& operator=(const BatchCacheHeap&) = delete;
    ~BatchCacheHeap() {
        for (Slot& slot : slots_) {
            emptyOut(slot);
        }
        emptyDepots();
    }

    [[nodiscard, gnu::always_inline]] void* malloc(std::size_t size) noexcept {
        void* const object = tryMallocFast(size);
        return object != nullptr ? object : mallocBelow(size, *this);
    }

    /// An object of this thread's serving list, or null.
    [[nodiscard, gnu::always_inline]] void* tryMallocFast(std::size_t size) noexcept {
        const std::size_t index = Raised::classFor(size);
        const std::size_t slot = threadSlotIfTaken();
        return Waiting::has(index) && slot < Slots
                   ? slots_[slot].lists[index].take(Classes::sizeOf(index))
                   : nullptr;
    }

    /// An object of this thread or of a depot, else one that the heap below holds.
    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept {
        const std::size_t index = Raised::classFor(size);
        const std::size_t slot = threadSlot();
        if (Waiting::has(index) && slot < Slots) {
            if (void* const object = waiting(slots_[slot].lists[index], index)) {
                return object;
            }
        }
        return this->heldBelow(size);
    }

    /// Adds the object to this thread's serving list, unless that has reached the target.
    [[nodiscard, gnu::always_inline]] bool tryFreeFast(void* object) noexcept {
        const std::size_t index = classOfLive(object, "free");
        const std::size_t slot = threadSlotIfTaken();
        return Waiting::has(index) && slot < Slots && put(slots_[slot].lists[index], object, index);
    }

    /// Pre: no other thread uses the heap.
    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        for (std::size_t index = 0; index < Classes::count; ++index) {
            for (Slot& slot : slots_) {
                awake(slot.lists[index].removeServing(), index);
                awake(slot.lists[index].removeSpare(), index);
            }
            while (ObjectLink* const batch = depots_[index].take()) {
                awake(batch, index);
            }
        }
        below().clear();
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        below().measure(usage);
        for (std::size_t index = 0; index < Classes::count; ++index) {
            std::size_t count = depots_[index].count() * target[index];
            for (const Slot& slot : slots_) {
                count += slot.lists[index].count();
                count += slot.lists[index].hasSpare() ? target[index] : 0U;
            }
            usage.heldCount += count;
            usage.held += count * Classes::sizeOf(index);
        }
    }

    void beforeFork() noexcept { holds_.hold(visit()); }
    void afterForkInParent() noexcept {
        holds_.letGo(visit(), [](auto& heap) { heap.afterForkInParent(); });
    }
    /// The next owners of the slots inherit the lists of threads that the child does not have. A
    /// batch that such a thread was moving is lost.
    void afterForkInChild() noexcept {
        holds_.letGo(visit(), [](auto& heap) { heap.afterForkInChild(); });
        keepOnlyMySlot();
    }

    /// Always false, because `beforeFork` takes only the locks that this thread does not hold yet.
    [[nodiscard]] static bool heldByThisThread() noexcept { return false; }

private:
    /// Enumerates what a fork holds: the depots, and then the heap below if it is forkable.
    [[nodiscard]] auto visit() noexcept {
        return [this](std::size_t index, auto body) {
            if (index < Classes::count) {
                body(depots_[index]);
            } else if constexpr (ForkableHeap<SuperHeap>) {
                body(below());
            }
        };
    }

    [[nodiscard, gnu::always_inline]] bool put(BatchLists& lists, void* object,
                                               std::size_t index) noexcept {
        return lists.put(object, Classes::sizeOf(index), secret_.get(), target[index]);
    }

    /// An object of a thread's lists, or of a batch from the depot; null if both are empty.
    void* waiting(BatchLists& lists, std::size_t index) noexcept {
        if (void* const object = lists.take(Classes::sizeOf(index))) {
            return object;
        }
        ObjectLink* batch = lists.removeSpare();
        if (batch == nullptr) {
            batch = depots_[index].take();
        }
        if (batch == nullptr) {
            return nullptr;
        }
        lists.serveFrom(batch, target[index]);
        return lists.take(Classes::sizeOf(index));
    }

    /// Out of line, as `freeBelow` is. Static, so that the size stays in its register.
    [[gnu::noinline]] static void* mallocBelow(std::size_t size, BatchCacheHeap& heap) noexcept {
        const std::size_t index = Raised::classFor(size);
        const std::size_t slot = threadSlot();
        if (!Waiting::has(index) || slot >= Slots) {
            return heap.orAfterFlush([&heap, size] { return heap.below().malloc(rounded(size)); });
        }
        BatchLists& lists = heap.slots_[slot].lists[index];
        if (void* const object = heap.waiting(lists, index)) {
            return object;
        }
        return heap.orAfterFlush([&heap, &lists, index] { return heap.fetched(lists, index); });
    }

    /// Takes a batch from the heap below and returns its first object.
    void* fetched(BatchLists& lists, std::size_t index) noexcept {
        ObjectLink* const first = below().mallocBatch(Classes::sizeOf(index), target[index]);
        if (first == nullptr) {
            return nullptr;
        }
        for (ObjectLink* each = first->next; each != nullptr;) {
            ObjectLink* const next = each->next;
            [[maybe_unused]] const bool kept = put(lists, each, index); // the list was empty
            each = next;
        }
        return first;
    }

    [[gnu::noinline]] static void freeBelow(void* object, BatchCacheHeap& heap) noexcept {
        const std::size_t index = classOfLiveIn<Classes>(heap.below(), object, "free");
        const std::size_t slot = threadSlot();
        if (!Waiting::has(index) || slot >= Slots) {
            heap.below().free(object);
            return;
        }
        BatchLists& lists = heap.slots_[slot].lists[index];
        if (!heap.put(lists, object, index)) {
            ObjectLink* const surplus = lists.setAside();
            if (surplus != nullptr && !heap.depots_[index].put(surplus)) {
                heap.handDown(surplus, index);
            }
            [[maybe_unused]] const bool kept = heap.put(lists, object, index);
        }
    }

    /// Ends the wait of all objects of a list. Returns the list as a chain.
    static ObjectLink* awake(ObjectLink* list, std::size_t index) noexcept {
        for (ObjectLink* each = list; each != nullptr; each = each->next) {
            CachedObject::wake(each, Classes::sizeOf(index));
        }
        return list;
    }

    bool handDown(ObjectLink* list, std::size_t index) noexcept {
        if (list == nullptr) {
            return false;
        }
        below().freeBatch(awake(list, index));
        return true;
    }

    bool emptyOut(Slot& slot) noexcept {
        bool any = false;
        for (std::size_t index = 0; index < Classes::count; ++index) {
            any = handDown(slot.lists[index].removeServing(), index) || any;
            any = handDown(slot.lists[index].removeSpare(), index) || any;
        }
        return any;
    }

    bool emptyDepots() noexcept {
        bool any = false;
        for (std::size_t index = 0; index < Classes::count; ++index) {
            while (handDown(depots_[index].take(), index)) {
                any = true;
            }
        }
        return any;
    }

    bool flushMine() noexcept {
        const std::size_t slot = threadSlot();
        const bool any = slot < Slots && emptyOut(slots_[slot]);
        return emptyDepots() || any;
    }

    std::array<Slot, Slots> slots_;
    std::array<BatchDepot<Most>, Classes::count> depots_;
    ForkHolds<Classes::count + 1> holds_;
};

} // namespace heapwright
