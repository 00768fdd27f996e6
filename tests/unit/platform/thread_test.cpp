// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/thread.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <thread>

namespace heapwright::testing {
namespace {

struct Owner {};
struct Other {};

TEST(Thread, EachHasItsOwnVariable) {
    using Mine = platform::PerThread<Owner, int>;
    Mine::mine() = 5;
    int there = -1;
    std::thread([&] {
        there = Mine::mine();
        Mine::mine() = 9;
    }).join();
    EXPECT_EQ(there, 0);
    EXPECT_EQ(Mine::mine(), 5);
    EXPECT_EQ((platform::PerThread<Other, int>::mine()), 0);
    Mine::mine() = 0;
}

TEST(Thread, IsNotAloneWhileAnotherRuns) {
    std::atomic<bool> alone{true};
    std::thread([&] { alone = platform::singleThreaded(); }).join();
    EXPECT_FALSE(alone);
}

TEST(Thread, DoesNotSleepOnAWordThatHasChanged) {
    std::atomic<std::uint32_t> word{1};
    errno = EINTR;
    platform::futexWait(word, 2);
    EXPECT_EQ(errno, EINTR);
}

TEST(Thread, WakesASleepingThread) {
    std::atomic<std::uint32_t> word{0};
    std::thread sleeper([&] {
        while (word.load() == 0) {
            platform::futexWait(word, 0);
        }
    });
    word = 1;
    platform::futexWakeOne(word);
    sleeper.join();
    EXPECT_EQ(word.load(), 1U);
}

TEST(Thread, HasANumberThatStays) {
    const std::uint32_t mine = platform::threadNumber();
    EXPECT_EQ(platform::threadNumber(), mine);
    std::set<std::uint32_t> numbers = {mine};
    for (int i = 0; i < 5; ++i) {
        std::thread([&] {
            numbers.insert(platform::threadNumber());
            numbers.insert(platform::threadNumber());
        }).join();
    }
    EXPECT_EQ(numbers.size(), 6U) << "each thread has one, and no two have the same";
}

} // namespace
} // namespace heapwright::testing
