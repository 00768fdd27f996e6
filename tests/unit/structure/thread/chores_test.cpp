// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/thread/chores.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

class ChoresTest : public ::testing::Test {
protected:
    ChoresTest() {
        Chores::setWorker(&work);
        Chores::look();
        done = 0;
        times = 0;
    }
    ~ChoresTest() override { Chores::setWorker(nullptr); }

    static void work(Chores::Set chores) noexcept {
        done |= chores;
        ++times;
    }

    static inline std::atomic<Chores::Set> done{0};
    static inline std::atomic<int> times{0};
};

TEST_F(ChoresTest, AreDoneByWhoLooksNext) {
    EXPECT_FALSE(Chores::due());
    Chores::ask(1);
    EXPECT_TRUE(Chores::due());
    EXPECT_EQ(times, 0);
    Chores::look();
    EXPECT_FALSE(Chores::due());
    EXPECT_EQ(done, 1U);
    Chores::look();
    EXPECT_EQ(times, 1);
}

TEST_F(ChoresTest, AreDoneTogetherAndOnce) {
    Chores::ask(1);
    Chores::ask(4);
    Chores::ask(1);
    Chores::look();
    EXPECT_EQ(done, 5U);
    EXPECT_EQ(times, 1);
}

TEST_F(ChoresTest, WaitForAWorker) {
    Chores::setWorker(nullptr);
    Chores::ask(2);
    Chores::look();
    EXPECT_EQ(times, 0);
    Chores::setWorker(&work);
    Chores::look();
    EXPECT_EQ(done, 2U);
}

TEST_F(ChoresTest, MayLeadToOthersWhileTheyAreDone) {
    Chores::setWorker([](Chores::Set chores) noexcept {
        ++times;
        Chores::look(); // as a request would that the worker makes
        if (chores == 1) {
            Chores::ask(2);
        }
    });
    Chores::ask(1);
    Chores::look();
    EXPECT_EQ(times, 1);
    Chores::look();
    EXPECT_EQ(times, 2);
}

TEST_F(ChoresTest, AreDoneByOneOfManyThreads) {
    constexpr int rounds = 1000;
    Chores::setWorker([](Chores::Set) noexcept { ++times; });
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([] {
            for (int k = 0; k < rounds; ++k) {
                Chores::ask(1);
                Chores::look();
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    Chores::look();
    EXPECT_GE(times, 1);
    EXPECT_LE(times, 4 * rounds);
    const int before = times;
    Chores::look();
    EXPECT_EQ(times, before);
}

} // namespace
} // namespace heapwright::testing
