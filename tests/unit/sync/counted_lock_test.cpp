// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sync/counted_lock.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

using Counted = CountedLock<FutexLock>;

TEST(CountedLock, IsALock) {
    EXPECT_TRUE(Lock<Counted>);
}

TEST(CountedLock, CountsTakesButNoWaitsWithoutContention) {
    Counted lock;
    lock.lock();
    EXPECT_FALSE(lock.tryLock());
    lock.unlock();
    EXPECT_TRUE(lock.tryLock());
    lock.unlock();
    EXPECT_EQ(lock.takes(), 2U);
    EXPECT_EQ(lock.waits(), 0U);
}

TEST(CountedLock, CountsEachTakeOfManyThreads) {
    constexpr int times = 20'000;
    Counted lock;
    std::size_t inside = 0; // no atomic: the lock is what protects it
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int k = 0; k < times; ++k) {
                const Guard<Counted> hold(lock);
                ++inside;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(inside, 4U * times);
    EXPECT_EQ(lock.takes(), 4U * times);
    EXPECT_LE(lock.waits(), lock.takes());
}

/// A lock that is free every other time that it is tried.
class UnluckyLock {
public:
    void lock() noexcept {}
    bool tryLock() noexcept { return lucky_ = !lucky_; }
    void unlock() noexcept {}
    void reset() noexcept {}
    [[nodiscard]] bool heldByThisThread() const noexcept { return false; }

private:
    bool lucky_ = false;
};

TEST(CountedLock, CountsAWaitWhereTheLockWasNotFree) {
    CountedLock<UnluckyLock> lock;
    for (int i = 0; i < 10; ++i) {
        lock.lock();
        lock.unlock();
    }
    EXPECT_EQ(lock.takes(), 10U);
    EXPECT_EQ(lock.waits(), 5U);
}

TEST(CountedLock, DoesNotCountATryThatFailed) {
    CountedLock<UnluckyLock> lock;
    EXPECT_TRUE(lock.tryLock());
    EXPECT_FALSE(lock.tryLock());
    EXPECT_EQ(lock.takes(), 1U);
    EXPECT_EQ(lock.waits(), 0U);
}

TEST(CountedLock, IsTheOnlyLockThatCounts) {
    EXPECT_TRUE(CountingLock<Counted>);
    EXPECT_FALSE(CountingLock<FutexLock>);
}

} // namespace
} // namespace heapwright::testing
