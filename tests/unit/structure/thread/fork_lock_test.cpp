// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/thread/fork_lock.hpp>

#include <heapwright/sync/futex_lock.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace heapwright::testing {
namespace {

using Latch = ForkLock<FutexLock>;

/// Runs `body` in a thread beside this one, so that locks know whose they are.
template <class Body>
void besideAnother(Body body) {
    std::thread(body).join();
}

TEST(ForkLock, IsHeldForAForkAndReleased) {
    besideAnother([] {
        Latch lock;
        ASSERT_TRUE(lock.holdFor(1));
        EXPECT_FALSE(lock.tryLock());
        lock.letGo(1);
        EXPECT_TRUE(lock.tryLock());
        lock.unlock();
        ASSERT_TRUE(lock.holdFor(2));
        lock.letGoInChild(2);
        EXPECT_TRUE(lock.tryLock());
        lock.unlock();
    });
}

TEST(ForkLock, ForkKeepsALockOfTheForkingThread) {
    besideAnother([] {
        Latch lock;
        lock.lock();
        EXPECT_TRUE(lock.holdFor(1));
        lock.letGo(1);
        EXPECT_TRUE(lock.heldByThisThread());
        EXPECT_TRUE(lock.holdFor(1));
        lock.letGoInChild(1);
        EXPECT_TRUE(lock.heldByThisThread());
        lock.unlock();
    });
}

TEST(ForkLock, NestedForksReleaseItAtTheOuterEnd) {
    besideAnother([] {
        Latch lock;
        ASSERT_TRUE(lock.holdFor(1));
        ASSERT_TRUE(lock.holdFor(2));
        lock.letGo(2);
        EXPECT_TRUE(lock.heldByThisThread());
        lock.letGo(1);
        EXPECT_FALSE(lock.heldByThisThread());
    });
}

TEST(ForkLock, HoldForFailsWhileAnotherThreadHasTheLock) {
    Latch lock;
    lock.lock();
    besideAnother([&lock] { EXPECT_FALSE(lock.holdFor(1)); });
    lock.unlock();
}

TEST(ForkLock, ForkClaimsItFromAHolderInTheHeapBelow) {
    Latch lock;
    std::atomic<bool> isBelow{false};
    std::atomic<bool> mayReturn{false};
    std::atomic<bool> isBack{false};
    std::thread holder([&] {
        lock.lock();
        lock.goBelow();
        isBelow = true;
        isBelow.notify_one();
        mayReturn.wait(false);
        lock.comeBack();
        isBack = true;
        lock.unlock();
    });
    isBelow.wait(false);
    ASSERT_TRUE(lock.holdFor(1));
    ASSERT_TRUE(lock.holdFor(2)) << "an inner fork finds it claimed";
    lock.letGo(2);
    mayReturn = true;
    mayReturn.notify_one();
    EXPECT_FALSE(isBack);
    lock.letGo(1);
    holder.join();
    EXPECT_TRUE(isBack);
    EXPECT_TRUE(lock.tryLock());
    lock.unlock();
}

TEST(ForkLock, GuardReleasesTheInnerLockWhileAForkHoldsTheOuter) {
    std::thread([] {}).join(); // whose a lock is, is only known once there were threads
    Latch outer;
    Latch inner;
    inner.lock(); // as the interrupted request would
    std::thread waiting([&] {
        const Guard<Latch> hold(outer);
        const GuardBelow<Latch, Latch> both(outer, inner);
        EXPECT_TRUE(outer.heldByThisThread());
        EXPECT_TRUE(inner.heldByThisThread());
    });
    while (!outer.holdFor(1)) { // the other thread may not have come that far
    }
    ASSERT_TRUE(inner.holdFor(1));
    inner.letGo(1);
    inner.unlock();
    // The other thread has the inner one now, or will; a fork gets it all the same.
    while (!inner.holdFor(2)) {
    }
    inner.letGo(2);
    outer.letGo(1);
    waiting.join();
    EXPECT_TRUE(outer.tryLock());
    EXPECT_TRUE(inner.tryLock());
}

TEST(ForkLock, IsFreeInTheForkedChild) {
    Latch lock;
    std::atomic<int> step{0};
    std::thread holder([&] {
        lock.lock();
        lock.goBelow();
        step = 1;
        step.notify_one();
        step.wait(1); // a fork leaves no such thread in the child
    });
    step.wait(0);
    ASSERT_TRUE(lock.holdFor(1));
    lock.letGoInChild(1);
    EXPECT_TRUE(lock.tryLock());
    lock.unlock();
    step = 2;
    step.notify_one();
    holder.join();
}

} // namespace
} // namespace heapwright::testing
