// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/shared_pages.hpp>
#include <heapwright/sync/counted_lock.hpp>
#include <heapwright/sync/futex_lock.hpp>
#include <heapwright/sync/lock.hpp>
#include <heapwright/sync/shared_futex_lock.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <new>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace heapwright::testing {
namespace {

/// A lock and what it protects, in memory that all processes see.
struct Shared {
    SharedFutexLock lock;
    std::size_t count = 0; // no atomic: the lock is what protects it
    std::atomic<int> step{0};

    void reach(int wanted) const {
        while (step.load() < wanted) {
            ::usleep(1000);
        }
    }
};

class SharedFutexLockTest : public ::testing::Test {
protected:
    void SetUp() override {
        void* const page = platform::mapSharedPages(platform::pageSize());
        ASSERT_NE(page, nullptr);
        shared_ = ::new (page) Shared;
    }
    void TearDown() override { platform::unmapPages(shared_, platform::pageSize()); }

    template <class Body>
    pid_t child(Body body) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::alarm(60);
            body();
            ::_exit(0);
        }
        return child;
    }
    static int statusOf(pid_t child) {
        int status = 0;
        ::waitpid(child, &status, 0);
        return status;
    }

    Shared* shared_ = nullptr;
};

TEST_F(SharedFutexLockTest, IsALockThatIsTakenOnce) {
    static_assert(Lock<SharedFutexLock>);
    EXPECT_TRUE(shared_->lock.tryLock());
    EXPECT_TRUE(shared_->lock.heldByThisThread());
    EXPECT_FALSE(shared_->lock.tryLock());
    shared_->lock.unlock();
    EXPECT_FALSE(shared_->lock.heldByThisThread());
    EXPECT_TRUE(shared_->lock.tryLock());
    shared_->lock.unlock();
}

TEST_F(SharedFutexLockTest, KeepsProcessesAndTheirThreadsOut) {
    const auto work = [this] {
        errno = EINTR;
        for (int i = 0; i < 10'000; ++i) {
            const Guard<SharedFutexLock> guard(shared_->lock);
            ++shared_->count;
        }
        EXPECT_EQ(errno, EINTR);
    };
    std::vector<pid_t> children;
    for (int i = 0; i < 2; ++i) {
        children.push_back(child([&] {
            std::thread other(work);
            work();
            other.join();
        }));
    }
    work();
    for (const pid_t one : children) {
        EXPECT_EQ(statusOf(one), 0);
    }
    EXPECT_EQ(shared_->count, 50'000U);
}

/// The threads of both processes stand at the same addresses, and are not the same.
TEST_F(SharedFutexLockTest, KnowsWhichProcessHasIt) {
    shared_->lock.lock();
    EXPECT_EQ(statusOf(child([this] {
                  ::_exit(shared_->lock.heldByThisThread() || shared_->lock.tryLock() ? 1 : 0);
              })),
              0);
    shared_->lock.unlock();
}

TEST_F(SharedFutexLockTest, TheForkingProcessLetsItGo) {
    shared_->lock.lock(); // as a LockedHeap does before a fork
    const pid_t forked = child([this] {
        shared_->lock.reset(); // and after it
        shared_->step = 1;
        const Guard<SharedFutexLock> guard(shared_->lock);
        ++shared_->count;
    });
    shared_->reach(1);
    EXPECT_EQ(shared_->count, 0U) << "the child waits";
    shared_->lock.unlock();
    EXPECT_EQ(statusOf(forked), 0);
    EXPECT_EQ(shared_->count, 1U);
}

TEST_F(SharedFutexLockTest, AbortsWhenItsOwnerDiedInside) {
    const pid_t owner = child([this] {
        shared_->lock.lock();
        shared_->step = 1;
        ::pause();
    });
    shared_->reach(1);
    ::kill(owner, SIGKILL);
    EXPECT_DEATH(
        {
            ::alarm(60);
            shared_->lock.lock();
        },
        "heapwright: lock\\(\\): the thread that held it has died");
    EXPECT_NE(statusOf(owner), 0);
}

TEST_F(SharedFutexLockTest, WaitsForAnOwnerThatLives) {
    shared_->lock.lock();
    const pid_t waiter = child([this] {
        shared_->step = 1;
        const Guard<SharedFutexLock> guard(shared_->lock);
    });
    shared_->reach(1);
    ::usleep(450'000); // it looks twice whether the owner lives
    shared_->lock.unlock();
    EXPECT_EQ(statusOf(waiter), 0);
}

TEST(SharedFutexLock, WorksBetweenProcessesAndStillDoesWhenCounted) {
    EXPECT_TRUE(InterProcessLock<SharedFutexLock>);
    EXPECT_TRUE(InterProcessLock<CountedLock<SharedFutexLock>>);
    EXPECT_FALSE(InterProcessLock<FutexLock>);
    EXPECT_FALSE(InterProcessLock<CountedLock<FutexLock>>);
}

} // namespace
} // namespace heapwright::testing
