// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The locks and shared variables tell what happens to them, each once.
#include "counted_events.hpp"

#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/sync/futex_lock.hpp>
#include <heapwright/sync/shared_word.hpp>
#include <heapwright/sync/slot_set.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace heapwright::testing {
namespace {

/// While it exists the process has a second thread, which does nothing.
class Company {
public:
    Company() = default;
    Company(const Company&) = delete;
    Company& operator=(const Company&) = delete;
    ~Company() {
        over_ = true;
        over_.notify_one();
        thread_.join();
    }

private:
    std::atomic<bool> over_{false};
    std::thread thread_{[this] { over_.wait(false); }};
};

TEST(CountedEvents, LockCountsOneTakeAndTwoAtomicOperations) {
    const Company company;
    FutexLock lock;
    const CountedEvents events;
    for (int i = 0; i < 10; ++i) {
        const Guard<FutexLock> guard(lock);
    }
    const EventTotals totals = events.sinceThen();
    EXPECT_EQ(totals.lockTakes, 10U);
    EXPECT_EQ(totals.lockWaits, 0U);
    EXPECT_EQ(totals.atomicOperations, 20U);
    EXPECT_EQ(totals.handOvers, 0U);
}

TEST(CountedEvents, ContendedLockCountsAWaitButNoFailedTry) {
    FutexLock lock;
    lock.lock();
    const CountedEvents events;
    std::atomic<bool> tried{false};
    std::thread other([&] {
        EXPECT_FALSE(lock.tryLock());
        EXPECT_EQ(events.sinceThen().lockTakes, 0U);
        tried = true;
        lock.lock();
        lock.unlock();
    });
    while (!tried || events.sinceThen().lockWaits == 0) {
        std::this_thread::yield();
    }
    lock.unlock();
    other.join();
    const EventTotals totals = events.sinceThen();
    EXPECT_EQ(totals.lockTakes, 1U);
    EXPECT_EQ(totals.lockWaits, 1U);
    EXPECT_EQ(totals.handOvers, 1U);
    EXPECT_EQ(totals.lockHandOvers, 1U);
    EXPECT_EQ(totals.sharedLines, 1U);
}

TEST(CountedEvents, SharedWordReportsItsOperations) {
    alignas(64) SharedWord<std::uint32_t> word;
    const CountedEvents events;
    word.store(1, std::memory_order_relaxed);
    EXPECT_EQ(word.fetchAdd(1, std::memory_order_relaxed), 1U);
    EXPECT_EQ(word.load(std::memory_order_relaxed), 2U);
    std::thread([&word] { static_cast<void>(word.load(std::memory_order_relaxed)); }).join();
    EXPECT_EQ(events.sinceThen().handOvers, 0U);
    std::thread([&word] { word.store(3, std::memory_order_relaxed); }).join();
    const EventTotals totals = events.sinceThen();
    EXPECT_EQ(totals.atomicOperations, 1U);
    EXPECT_EQ(totals.lockTakes, 0U);
    EXPECT_EQ(totals.handOvers, 1U);
    EXPECT_EQ(totals.lockHandOvers, 0U);
}

TEST(CountedEvents, ALockedHeapTakesItsLockOnceACall) {
    LockedHeap<FutexLock, MmapHeap> heap;
    const CountedEvents events;
    void* const object = heap.malloc(100);
    heap.free(object);
    EXPECT_EQ(events.sinceThen().lockTakes, 2U);
}

TEST(CountedEvents, ASlotIsClaimedInOneOperation) {
    SlotSet<8> set;
    const CountedEvents events;
    for (std::uint32_t tenant = 1; tenant <= 8; ++tenant) {
        EXPECT_EQ(set.claim(tenant), tenant - 1);
    }
    EXPECT_EQ(events.sinceThen().atomicOperations, 8U);
}

} // namespace
} // namespace heapwright::testing
