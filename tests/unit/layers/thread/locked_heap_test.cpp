// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/aligned_block_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

TEST(LockedHeap, MakesASourceThatIsNotSharedSafeToShare) {
    Ledger::begin();
    LockedHeap<FutexLock, SizeHeap<CountingHeap>> heap;
    std::vector<std::thread> threads;
    for (int id = 0; id < 4; ++id) {
        threads.emplace_back([&] {
            for (std::size_t i = 0; i < 1000; ++i) {
                void* const object = heap.malloc(i % 100 + 1);
                std::memset(object, 1, i % 100 + 1);
                heap.free(object);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(LockedHeap, IsFreeAgainOnBothSidesOfAFork) {
    Ledger::begin();
    LockedHeap<FutexLock, SizeHeap<CountingHeap>> heap;
    heap.beforeFork();
    heap.afterForkInParent();
    heap.free(heap.malloc(10));
    heap.beforeFork();
    heap.afterForkInChild();
    heap.free(heap.malloc(10));
}

TEST(LockedHeap, OwnsDoesNotTakeTheLock) {
    using Blocks = AlignedBlockHeap<8 * KiB, 1 * MiB, MmapHeap>;
    LockedHeap<FutexLock, Blocks> heap;
    EXPECT_TRUE(LockFreeOwningHeap<decltype(heap)>);
    void* const block = heap.malloc(8 * KiB);
    const bool held = heap.attempt([&](Blocks& /*inside*/) {
        std::thread asking([&] { // it would wait for ever if the query took the lock
            EXPECT_TRUE(heap.owns(block));
            EXPECT_FALSE(heap.owns(&heap));
        });
        asking.join();
    });
    EXPECT_TRUE(held);
    heap.free(block);
}

TEST(LockedHeap, HasTheVerbsOfTheHeapBelowAndNoMore) {
    using Locked = LockedHeap<FutexLock, CountingHeap>;
    EXPECT_TRUE(SizedHeap<Locked> && ForkableHeap<Locked>);
    EXPECT_FALSE(AlignedHeap<Locked> || ClearableHeap<Locked> || TrimmableHeap<Locked>);
}

} // namespace
} // namespace heapwright::testing
