// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What both caches of freed objects owe alike (structure/cache/caching_heap.hpp).
#include <heapwright/layers/carve/coalesce_heap.hpp>
#include <heapwright/layers/object/checked_heap.hpp>
#include <heapwright/layers/object/coalesceable_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/thread/batch_cache_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/layers/thread/thread_cache_heap.hpp>
#include <heapwright/sizeclass/exact.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <gtest/gtest.h>

#include "cache_tests.hpp"

#include <csignal>
#include <cstring>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace heapwright::testing {
namespace {

using Blocks = CoalesceHeap<64 * KiB, CoalesceableHeap<MmapHeap>>;
using Checked = LockedHeap<FutexLock, CheckedHeap<Blocks>>;

template <class Cache>
class Caches : public ::testing::Test {};

template <class Cache>
class CachesDeathTest : public ::testing::Test {
protected:
    void SetUp() override { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

/// Of 24, 40, 56 and 72 bytes, as are those in batches.
struct PerThread {
    template <std::size_t Batch, std::size_t Slots, class Below>
    using Over = ThreadCacheHeap<Exact<4>, 1024, Batches<Batch>, Slots, Below>;
    static constexpr std::size_t few = 1;
};

struct InBatches {
    template <std::size_t Batch, std::size_t Slots, class Below>
    using Over = BatchCacheHeap<Exact<4>, Batch, 4, Slots, Below>;
    static constexpr std::size_t few = 2;
};

/// One that fetches few objects at once, which are counted.
template <class Cache>
using Counted = typename Cache::template Over<Cache::few, 64, Shared1>;
template <class Cache>
using Merging = typename Cache::template Over<4, 64, Checked>;

using Both = ::testing::Types<PerThread, InBatches>;
TYPED_TEST_SUITE(Caches, Both, );
TYPED_TEST_SUITE(CachesDeathTest, Both, );

TYPED_TEST(Caches, ClearsObjectsOfZalloc) {
    Merging<TypeParam> heap;
    auto* object = static_cast<unsigned char*>(heap.zalloc(40));
    std::memset(object, 7, 40);
    heap.free(object);
    auto* const again = static_cast<unsigned char*>(heap.zalloc(40));
    EXPECT_EQ(again, object);
    for (std::size_t i = 0; i < 40; ++i) {
        EXPECT_EQ(again[i], 0) << i;
    }
    heap.free(again);
}

TYPED_TEST(Caches, WorksInTheChildOfAFork) {
    Merging<TypeParam> heap;
    std::vector<void*> objects(20);
    for (void*& object : objects) {
        object = heap.malloc(24);
    }
    heap.beforeFork();
    const pid_t child = ::fork();
    if (child == 0) {
        heap.afterForkInChild();
        for (void* const object : objects) {
            heap.free(object);
        }
        std::set<void*> again;
        for (int i = 0; i < 20; ++i) {
            again.insert(heap.malloc(24));
        }
        ::_exit(again.size() == 20 ? 0 : 1);
    }
    heap.afterForkInParent();
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    for (void* const object : objects) {
        heap.free(object);
    }
}

TYPED_TEST(Caches, LeavesLargeObjectsToTheHeapBelow) {
    Ledger::begin();
    Counted<TypeParam> heap;
    void* const large = heap.malloc(2000);
    EXPECT_EQ(Ledger::the().requests, 1U);
    heap.free(large);
    EXPECT_TRUE(Ledger::the().live.empty());
}

TYPED_TEST(Caches, KeepsThreadsApart) {
    Ledger::begin();
    {
        Counted<TypeParam> heap;
        void* const mine = heap.malloc(24);
        heap.free(mine);
        std::thread([&] {
            void* const object = heap.malloc(24);
            EXPECT_NE(object, mine);
            heap.free(object);
        }).join();
        EXPECT_EQ(heap.malloc(24), mine);
        heap.free(mine);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TYPED_TEST(Caches, IsInheritedWithItsSlot) {
    Ledger::begin();
    {
        Counted<TypeParam> heap;
        heap.free(heap.malloc(24)); // so that this thread has a slot
        std::uint32_t slot = 0;
        void* left = nullptr;
        std::thread([&] {
            slot = threadSlot();
            left = heap.malloc(24);
            heap.free(left);
        }).join();
        std::thread([&] {
            ASSERT_EQ(threadSlot(), slot);
            void* const object = heap.malloc(24);
            EXPECT_EQ(object, left);
            heap.free(object);
        }).join();
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TYPED_TEST(Caches, ServesAThreadWithoutASlotUncached) {
    Ledger::begin();
    {
        typename TypeParam::template Over<8, 1, Shared1> heap;
        std::thread([&] {
            giveThreadSlotBack();
            void* const object = heap.malloc(24);
            EXPECT_EQ(Ledger::the().requests, 1U);
            EXPECT_GE(heap.getSize(object), 24U);
            heap.free(object);
            EXPECT_TRUE(Ledger::the().live.empty());
            EXPECT_FALSE(heap.flush());
        }).join();
    }
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TYPED_TEST(Caches, FlushesMeasuresAndClears) {
    Merging<TypeParam> heap;
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

TYPED_TEST(Caches, ReturnsCachedObjectsBeforeItReturnsNull) {
    Ledger::begin();
    {
        Counted<TypeParam> heap;
        freeAll(heap, several(heap, 8));
        Ledger::the().refuse = Ledger::the().requests + 1;
        void* const object = heap.malloc(40);
        ASSERT_NE(object, nullptr) << "at the second try";
        EXPECT_LE(Ledger::the().live.size(), TypeParam::few);
        heap.free(object);
        Ledger::the().refuse = Ledger::all;
        EXPECT_EQ(heap.malloc(72), nullptr);
        EXPECT_EQ(heap.malloc(5000), nullptr);
    }
    EXPECT_TRUE(Ledger::the().live.empty());
}

TYPED_TEST(Caches, HasTheVerbsOfTheHeapBelowAndNoMore) {
    using Plain = Counted<TypeParam>;
    EXPECT_TRUE(ConcurrentHeap<Plain> && SizedHeap<Plain> && ForkableHeap<Plain>);
    EXPECT_TRUE(FlushableHeap<Plain> && HoldingHeap<Plain>);
    EXPECT_FALSE(AlignedHeap<Plain> || ClearableHeap<Plain> || CheckingHeap<Plain>);
    using Merged = Merging<TypeParam>;
    EXPECT_TRUE(CheckingHeap<Merged> && AlignedHeap<Merged> && ZeroingHeap<Merged>);
}

TYPED_TEST(CachesDeathTest, DiesOfAnObjectThatWaits) {
    Merging<TypeParam> heap;
    void* const object = heap.malloc(24);
    heap.free(object);
    EXPECT_EXIT(heap.free(object), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: free\\(\\): double free\n");
    EXPECT_EXIT((void)heap.getSize(object), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: malloc_usable_size\\(\\): use of a freed object\n");
    EXPECT_EXIT((void)heap.resize(object, 8), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: realloc\\(\\): use of a freed object\n");
}

TYPED_TEST(CachesDeathTest, AbortsOnAnObjectInAnotherCache) {
    Merging<TypeParam> heap;
    void* const object = heap.malloc(24);
    std::thread([&] { heap.free(object); }).join();
    EXPECT_EXIT(heap.free(object), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: free\\(\\): double free\n");
}

TYPED_TEST(CachesDeathTest, AbortsOnAnAddressThatIsNoObject) {
    Merging<TypeParam> heap;
    alignas(16) unsigned char memory[64] = {};
    EXPECT_EXIT(heap.free(memory + 32), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: free\\(\\): invalid pointer\n");
    EXPECT_EXIT(heap.free(memory + 33), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: free\\(\\): invalid pointer\n");
}

} // namespace
} // namespace heapwright::testing
