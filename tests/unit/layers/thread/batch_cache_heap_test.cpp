// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/coalesce_heap.hpp>
#include <heapwright/layers/object/checked_heap.hpp>
#include <heapwright/layers/object/coalesceable_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/thread/batch_cache_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/sizeclass/exact.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

using Shared1 = LockedHeap<FutexLock, SizeHeap<CountingHeap>>;
template <std::size_t Target, std::size_t Most, class Below = Shared1>
using Cached = BatchCacheHeap<Exact<4>, Target, Most, 64, Below>; // 24, 40, 56 and 72 bytes
using Blocks = CoalesceHeap<64 * KiB, CoalesceableHeap<MmapHeap>>;
using Merging = Cached<4, 4, LockedHeap<FutexLock, CheckedHeap<Blocks>>>;

template <class Body>
void inAThread(Body body) {
    std::thread(body).join();
}

/// So many objects, all different.
template <class H>
std::vector<void*> several(H& heap, std::size_t number, std::size_t size = 24) {
    std::vector<void*> objects;
    for (std::size_t i = 0; i < number; ++i) {
        objects.push_back(heap.malloc(size));
    }
    EXPECT_EQ(std::set<void*>(objects.begin(), objects.end()).size(), number);
    return objects;
}

template <class H>
void freeAll(H& heap, const std::vector<void*>& objects) {
    for (void* const object : objects) {
        heap.free(object);
    }
}

TEST(BatchCacheHeap, ServesWhatTheThreadFreedLast) {
    Ledger::begin();
    {
        Cached<4, 2> heap;
        void* const one = heap.malloc(24);
        EXPECT_EQ(Ledger::the().requests, 4U) << "a batch";
        void* const other = heap.malloc(10);
        heap.free(one);
        heap.free(other);
        EXPECT_EQ(heap.malloc(24), other);
        EXPECT_EQ(heap.malloc(24), one);
        EXPECT_EQ(Ledger::the().requests, 4U);
        heap.free(one);
        void* const larger = heap.malloc(25);
        EXPECT_NE(larger, one) << "that is another class";
        heap.free(larger);
        heap.free(other);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(BatchCacheHeap, KeepsTwoListsThenDepotsThenHandsDown) {
    Ledger::begin();
    {
        Cached<4, 2> heap;
        freeAll(heap, several(heap, 40));
        EXPECT_EQ(Ledger::the().live.size(), 4U * (2 + 2)) << "two lists, two batches in the depot";
        const std::size_t before = Ledger::the().requests;
        const std::vector<void*> again = several(heap, 16);
        EXPECT_EQ(Ledger::the().requests, before) << "all of them serve";
        freeAll(heap, again);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(BatchCacheHeap, BoundsWhatOneThreadAllocatesAndAnotherFrees) {
    Ledger::begin();
    {
        Cached<4, 2> heap;
        for (int round = 0; round < 20; ++round) {
            std::vector<void*> objects = several(heap, 20);
            inAThread([&] { freeAll(heap, objects); });
        }
        EXPECT_LE(Ledger::the().live.size(), 20U + 4 * 4 + 4 * 2);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(BatchCacheHeap, PassesBatchesFromThreadToThread) {
    Ledger::begin();
    {
        Cached<4, 8> heap;
        heap.free(heap.malloc(24)); // so that this thread has a slot
        inAThread([&] { freeAll(heap, several(heap, 16)); });
        const std::size_t before = Ledger::the().requests;
        const std::vector<void*> objects = several(heap, 12);
        EXPECT_EQ(Ledger::the().requests, before) << "two batches of the depot, one of its own";
        freeAll(heap, objects);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(BatchCacheHeap, LeavesLargeObjectsToTheHeapBelow) {
    Ledger::begin();
    Cached<2, 4> heap;
    void* const large = heap.malloc(2000);
    EXPECT_EQ(Ledger::the().requests, 1U);
    heap.free(large);
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(BatchCacheHeap, KeepsThreadsApart) {
    Ledger::begin();
    {
        Cached<2, 1> heap;
        void* const mine = heap.malloc(24);
        heap.free(mine);
        inAThread([&] {
            void* const object = heap.malloc(24);
            EXPECT_NE(object, mine);
            heap.free(object);
        });
        EXPECT_EQ(heap.malloc(24), mine);
        heap.free(mine);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(BatchCacheHeap, IsInheritedWithItsSlot) {
    Ledger::begin();
    {
        Cached<2, 1> heap;
        heap.free(heap.malloc(24)); // so that this thread has a slot
        std::uint32_t slot = 0;
        void* left = nullptr;
        inAThread([&] {
            slot = threadSlot();
            left = heap.malloc(24);
            heap.free(left);
        });
        inAThread([&] {
            ASSERT_EQ(threadSlot(), slot);
            void* const object = heap.malloc(24);
            EXPECT_EQ(object, left);
            heap.free(object);
        });
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(BatchCacheHeap, DoesWithoutWhereAThreadHasNoSlot) {
    Ledger::begin();
    {
        BatchCacheHeap<Exact<4>, 8, 8, 1, Shared1> heap;
        inAThread([&] {
            giveThreadSlotBack();
            void* const object = heap.malloc(24);
            EXPECT_EQ(Ledger::the().requests, 1U);
            EXPECT_GE(heap.getSize(object), 24U);
            heap.free(object);
            EXPECT_TRUE(Ledger::the().live.empty());
            EXPECT_FALSE(heap.flush());
        });
    }
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(BatchCacheHeap, FlushesMeasuresAndClears) {
    Merging heap;
    void* const object = heap.malloc(24);
    MemoryUsage before;
    heap.measure(before);
    heap.free(object);
    MemoryUsage after;
    heap.measure(after);
    EXPECT_GE(after.held, before.held + 24);
    EXPECT_EQ(after.heldCount, before.heldCount + 1);
    EXPECT_TRUE(heap.flush());
    EXPECT_FALSE(heap.flush());
    heap.free(heap.malloc(24));
    heap.clear();
    MemoryUsage cleared;
    heap.measure(cleared);
    EXPECT_EQ(cleared.mapped + cleared.held + cleared.heldCount, 0U);
    heap.free(heap.malloc(24));
}

TEST(BatchCacheHeap, GivesBackWhatItKeepsBeforeItSaysNo) {
    Ledger::begin();
    {
        Cached<2, 1> heap;
        freeAll(heap, several(heap, 8));
        Ledger::the().refuse = Ledger::the().requests + 1;
        void* const object = heap.malloc(40);
        EXPECT_NE(object, nullptr) << "at the second try";
        EXPECT_LE(Ledger::the().live.size(), 2U);
        heap.free(object);
        Ledger::the().refuse = Ledger::all;
        EXPECT_EQ(heap.malloc(72), nullptr);
        EXPECT_EQ(heap.malloc(5000), nullptr);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(BatchCacheHeap, OffersWhatIsBelowAndNoMore) {
    using Plain = Cached<2, 4>;
    EXPECT_TRUE(ConcurrentHeap<Plain> && SizedHeap<Plain> && ForkableHeap<Plain>);
    EXPECT_TRUE(FlushableHeap<Plain> && HoldingHeap<Plain>);
    EXPECT_FALSE(AlignedHeap<Plain> || ClearableHeap<Plain> || CheckingHeap<Plain>);
    EXPECT_TRUE(CheckingHeap<Merging> && AlignedHeap<Merging> && ZeroingHeap<Merging>);
}

} // namespace
} // namespace heapwright::testing
