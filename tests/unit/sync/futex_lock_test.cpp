// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sync/futex_lock.hpp>
#include <heapwright/sync/lock.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <pthread.h>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

TEST(FutexLock, IsALock) {
    EXPECT_TRUE(Lock<FutexLock>);
}

TEST(FutexLock, IsTakenOnce) {
    FutexLock lock;
    EXPECT_TRUE(lock.tryLock());
    EXPECT_FALSE(lock.tryLock());
    lock.unlock();
    EXPECT_TRUE(lock.tryLock());
    lock.reset();
    EXPECT_TRUE(lock.tryLock());
    lock.unlock();
}

TEST(FutexLock, KeepsAllButOneOutAndErrnoAsItWas) {
    FutexLock lock;
    std::size_t count = 0; // no atomic: the lock is what protects it
    std::atomic<int> wrongErrno{0};
    std::vector<std::thread> threads;
    for (int id = 0; id < 4; ++id) {
        threads.emplace_back([&] {
            errno = EINTR;
            for (int i = 0; i < 20000; ++i) {
                const Guard<FutexLock> guard(lock);
                ++count;
            }
            wrongErrno += errno != EINTR ? 1 : 0;
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(count, 80000U);
    EXPECT_EQ(wrongErrno, 0);
}

TEST(FutexLock, UnlockWakesAWaiter) {
    FutexLock lock;
    lock.lock(); // perhaps while this is the only thread, let go while it is not
    std::atomic<bool> waiting{false};
    std::thread waiter([&] {
        waiting = true;
        const Guard<FutexLock> guard(lock);
    });
    while (!waiting) {
        std::this_thread::yield();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // until it sleeps, most likely
    lock.unlock();
    waiter.join();
    EXPECT_TRUE(lock.tryLock());
    lock.unlock();
}

TEST(FutexLock, KnowsWhetherThisThreadHasIt) {
    FutexLock lock;
    std::atomic<int> step{0};
    const auto reach = [&step](int wanted) {
        while (step < wanted) {
            std::this_thread::yield();
        }
    };
    std::thread owner([&] {
        lock.lock();
        EXPECT_TRUE(lock.heldByThisThread());
        step = 1;
        reach(2);
        lock.unlock();
        EXPECT_FALSE(lock.heldByThisThread());
    });
    reach(1);
    EXPECT_FALSE(lock.heldByThisThread());
    step = 2;
    lock.lock();
    EXPECT_TRUE(lock.heldByThisThread());
    lock.unlock();
    owner.join();
}

/// A lock with two waiters. A handler interrupts the first and waits until the second has had the
/// lock.
struct InterruptedWaiter {
    FutexLock lock;
    std::atomic<bool> secondHadIt{false};

    static inline std::atomic<InterruptedWaiter*> current{nullptr};

    static void onSignal(int) {
        FutexLock::passWake();
        while (!current.load()->secondHadIt) {
            std::this_thread::yield();
        }
    }

    void run() {
        current = this;
        lock.lock();
        std::atomic<int> begun{0};
        const auto waits = [&] {
            ++begun;
            const Guard<FutexLock> guard(lock);
        };
        std::thread first(waits);
        while (begun < 1) {
            std::this_thread::yield();
        }
        std::thread second([&] {
            waits();
            secondHadIt = true;
        });
        while (begun < 2) {
            std::this_thread::yield();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1)); // until both sleep, most likely
        ::pthread_kill(first.native_handle(), SIGUSR1);
        lock.unlock(); // this often wakes the first, just before its handler runs
        first.join();
        second.join();
    }
};

TEST(FutexLock, PassWakeGivesTheWakeOfAnInterruptedWaiterToTheNext) {
    struct sigaction ours {
    }, before{};
    ours.sa_handler = InterruptedWaiter::onSignal;
    ::sigaction(SIGUSR1, &ours, &before);
    for (int i = 0; i < 200; ++i) {
        InterruptedWaiter waiter;
        waiter.run();
        EXPECT_TRUE(waiter.secondHadIt);
    }
    ::sigaction(SIGUSR1, &before, nullptr);
}

TEST(FutexLock, PassWakeOfAThreadThatAwaitsNothingWakesNobody) {
    FutexLock lock;
    errno = EINTR;
    FutexLock::passWake();
    EXPECT_EQ(errno, EINTR);
    EXPECT_TRUE(lock.tryLock());
    lock.unlock();
}

} // namespace
} // namespace heapwright::testing
