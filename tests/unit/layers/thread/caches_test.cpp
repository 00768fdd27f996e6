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

using Both = ::testing::Types<ThreadCacheHeap<Exact<4>, 1024, 4, 64, Checked>,
                              BatchCacheHeap<Exact<4>, 4, 4, 64, Checked>>;
TYPED_TEST_SUITE(Caches, Both, );
TYPED_TEST_SUITE(CachesDeathTest, Both, );

TYPED_TEST(Caches, ClearsWhatItHandsOutAsZero) {
    TypeParam heap;
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
    TypeParam heap;
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

TYPED_TEST(CachesDeathTest, DiesOfAnObjectThatWaits) {
    TypeParam heap;
    void* const object = heap.malloc(24);
    heap.free(object);
    EXPECT_EXIT(heap.free(object), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: free\\(\\): double free\n");
    EXPECT_EXIT((void)heap.getSize(object), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: malloc_usable_size\\(\\): use of a freed object\n");
    EXPECT_EXIT((void)heap.resize(object, 8), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: realloc\\(\\): use of a freed object\n");
}

TYPED_TEST(CachesDeathTest, DiesOfAnObjectThatWaitsElsewhere) {
    TypeParam heap;
    void* const object = heap.malloc(24);
    std::thread([&] { heap.free(object); }).join();
    EXPECT_EXIT(heap.free(object), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: free\\(\\): double free\n");
}

TYPED_TEST(CachesDeathTest, DiesOfWhatIsNoObject) {
    TypeParam heap;
    alignas(16) unsigned char memory[64] = {};
    EXPECT_EXIT(heap.free(memory + 32), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: free\\(\\): invalid pointer\n");
    EXPECT_EXIT(heap.free(memory + 33), ::testing::KilledBySignal(SIGABRT),
                "^heapwright: free\\(\\): invalid pointer\n");
}

} // namespace
} // namespace heapwright::testing
