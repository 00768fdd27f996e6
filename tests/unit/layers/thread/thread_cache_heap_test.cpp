// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/coalesce_heap.hpp>
#include <heapwright/layers/object/checked_heap.hpp>
#include <heapwright/layers/object/coalesceable_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/layers/thread/thread_cache_heap.hpp>
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
template <std::size_t Most, std::size_t Batch, class Below = Shared1>
using Cached = ThreadCacheHeap<Exact<4>, Most, Batch, 64, Below>; // 24, 40, 56 and 72 bytes
using Blocks = CoalesceHeap<64 * KiB, CoalesceableHeap<MmapHeap>>;
using Merging = Cached<1024, 4, LockedHeap<FutexLock, CheckedHeap<Blocks>>>;

template <class Body>
void inAThread(Body body) {
    std::thread(body).join();
}

TEST(ThreadCacheHeap, ServesWhatTheThreadFreedLast) {
    Ledger::begin();
    {
        Cached<1024, 1> heap;
        void* const one = heap.malloc(40);
        void* const other = heap.malloc(30);
        heap.free(one);
        heap.free(other);
        EXPECT_EQ(heap.malloc(33), other);
        EXPECT_EQ(heap.malloc(40), one);
        EXPECT_EQ(Ledger::the().requests, 2U);
        heap.free(one);
        void* const larger = heap.malloc(41);
        EXPECT_NE(larger, one) << "that is another class";
        EXPECT_EQ(Ledger::the().requests, 3U);
        heap.free(larger);
        heap.free(other);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(ThreadCacheHeap, IsFilledAndEmptiedByBatches) {
    Ledger::begin();
    {
        Cached<1024, 8> heap;
        void* const first = heap.malloc(24);
        EXPECT_EQ(Ledger::the().requests, 2U) << "one more: two are a sixteenth of the room";
        heap.free(first);
        std::vector<void*> objects;
        for (int i = 0; i < 100; ++i) {
            objects.push_back(heap.malloc(24));
        }
        EXPECT_EQ(std::set<void*>(objects.begin(), objects.end()).size(), objects.size());
        for (void* const object : objects) {
            heap.free(object);
        }
        const std::size_t kept = Ledger::the().live.size();
        EXPECT_LE(kept * 24, 1024U);
        EXPECT_GE(kept * 24, 1024U - 2 * 24U - 24U);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(ThreadCacheHeap, MakesRoomForAClassByAnother) {
    Ledger::begin();
    {
        Cached<256, 4> heap;
        std::vector<void*> small(10);
        for (void*& object : small) {
            object = heap.malloc(24);
        }
        void* const large = heap.malloc(72);
        for (void* const object : small) {
            heap.free(object);
        }
        heap.free(large);
        EXPECT_EQ(heap.mallocHeld(72), large);
        heap.free(large);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(ThreadCacheHeap, LeavesLargeObjectsToTheHeapBelow) {
    Ledger::begin();
    Cached<1024, 4> heap;
    void* const large = heap.malloc(2000);
    EXPECT_EQ(Ledger::the().requests, 1U);
    heap.free(large);
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(ThreadCacheHeap, KeepsThreadsApart) {
    Ledger::begin();
    {
        Cached<1024, 1> heap;
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

TEST(ThreadCacheHeap, IsInheritedWithItsSlot) {
    Ledger::begin();
    {
        Cached<1024, 1> heap;
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

TEST(ThreadCacheHeap, DoesWithoutWhereAThreadHasNoSlot) {
    Ledger::begin();
    {
        ThreadCacheHeap<Exact<4>, 1024, 8, 1, Shared1> heap;
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

TEST(ThreadCacheHeap, FlushesMeasuresAndClears) {
    Merging heap;
    void* const object = heap.malloc(24);
    MemoryUsage before;
    heap.measure(before);
    heap.free(object);
    MemoryUsage after;
    heap.measure(after);
    EXPECT_EQ(after.held, before.held + 24);
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

TEST(ThreadCacheHeap, GivesBackWhatItKeepsBeforeItSaysNo) {
    Ledger::begin();
    {
        Cached<1024, 1> heap;
        heap.free(heap.malloc(24));
        Ledger::the().refuse = 2;
        void* const object = heap.malloc(40);
        EXPECT_NE(object, nullptr) << "at the second try";
        EXPECT_EQ(Ledger::the().live.size(), 1U);
        heap.free(object);
        Ledger::the().refuse = Ledger::all;
        EXPECT_EQ(heap.malloc(72), nullptr);
        EXPECT_EQ(heap.malloc(5000), nullptr);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(ThreadCacheHeap, OffersWhatIsBelowAndNoMore) {
    using Plain = Cached<1024, 4>;
    EXPECT_TRUE(ConcurrentHeap<Plain> && SizedHeap<Plain> && ForkableHeap<Plain>);
    EXPECT_TRUE(FlushableHeap<Plain> && HoldingHeap<Plain>);
    EXPECT_FALSE(AlignedHeap<Plain> || ClearableHeap<Plain> || CheckingHeap<Plain>);
    EXPECT_TRUE(CheckingHeap<Merging> && AlignedHeap<Merging> && ZeroingHeap<Merging>);
}

} // namespace
} // namespace heapwright::testing
