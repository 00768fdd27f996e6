// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/thread/deferred_work.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

class DeferredWorkTest : public ::testing::Test {
protected:
    DeferredWorkTest() {
        DeferredWork::setWorker(&work);
        DeferredWork::look();
        done = 0;
        times = 0;
    }
    ~DeferredWorkTest() override { DeferredWork::setWorker(nullptr); }

    static void work(DeferredWork::Set chores) noexcept {
        done |= chores;
        ++times;
    }

    static inline std::atomic<DeferredWork::Set> done{0};
    static inline std::atomic<int> times{0};
};

TEST_F(DeferredWorkTest, NextLookRunsTheWorkerOnce) {
    EXPECT_FALSE(DeferredWork::due());
    DeferredWork::ask(1);
    EXPECT_TRUE(DeferredWork::due());
    EXPECT_EQ(times, 0);
    DeferredWork::look();
    EXPECT_FALSE(DeferredWork::due());
    EXPECT_EQ(done, 1U);
    DeferredWork::look();
    EXPECT_EQ(times, 1);
}

TEST_F(DeferredWorkTest, PendingWorkRunsTogetherAndOnce) {
    DeferredWork::ask(1);
    DeferredWork::ask(4);
    DeferredWork::ask(1);
    DeferredWork::look();
    EXPECT_EQ(done, 5U);
    EXPECT_EQ(times, 1);
}

TEST_F(DeferredWorkTest, WorkWaitsUntilAWorkerIsSet) {
    DeferredWork::setWorker(nullptr);
    DeferredWork::ask(2);
    DeferredWork::look();
    EXPECT_EQ(times, 0);
    DeferredWork::setWorker(&work);
    DeferredWork::look();
    EXPECT_EQ(done, 2U);
}

TEST_F(DeferredWorkTest, WorkerCanAskForMoreWork) {
    DeferredWork::setWorker([](DeferredWork::Set chores) noexcept {
        ++times;
        DeferredWork::look(); // as a request would that the worker makes
        if (chores == 1) {
            DeferredWork::ask(2);
        }
    });
    DeferredWork::ask(1);
    DeferredWork::look();
    EXPECT_EQ(times, 1);
    DeferredWork::look();
    EXPECT_EQ(times, 2);
}

TEST_F(DeferredWorkTest, OneOfManyThreadsRunsTheWorker) {
    constexpr int rounds = 1000;
    DeferredWork::setWorker([](DeferredWork::Set) noexcept { ++times; });
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([] {
            for (int k = 0; k < rounds; ++k) {
                DeferredWork::ask(1);
                DeferredWork::look();
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    DeferredWork::look();
    EXPECT_GE(times, 1);
    EXPECT_LE(times, 4 * rounds);
    const int before = times;
    DeferredWork::look();
    EXPECT_EQ(times, before);
}

TEST_F(DeferredWorkTest, FreeRunsTheWorkerOnlyForASafeCaller) {
    DeferredWork::ask(1);
    DeferredWork::lookInFree(&done);
    EXPECT_EQ(done, 0U) << "no caller is known";
    DeferredWork::setWorker(&work, [](const void* caller) noexcept { return caller == &done; });
    DeferredWork::lookInFree(nullptr);
    EXPECT_EQ(done, 0U);
    DeferredWork::lookInFree(&done);
    EXPECT_EQ(done, 1U);
}

TEST_F(DeferredWorkTest, SignalHandlerDoesNotRunTheWorker) {
    {
        const DeferredWork::Hold outer;
        DeferredWork::ask(1);
        { const DeferredWork::Hold inner; }
        DeferredWork::look();
        EXPECT_EQ(done, 0U);
    }
    DeferredWork::look();
    EXPECT_EQ(done, 1U);
}

} // namespace
} // namespace heapwright::testing
