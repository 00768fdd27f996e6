// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/ticks.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <thread>

namespace heapwright::testing {
namespace {

std::uint64_t now() {
    return platform::clockNanoseconds(CLOCK_MONOTONIC);
}

TEST(Ticks, GoOnWithTheClock) {
    if (!platform::steadyTicks()) {
        GTEST_SKIP() << "this processor has no counter of one rate";
    }
    const std::uint64_t first = platform::ticks();
    for (const std::uint64_t begun = now(); now() - begun < 1'000'000;) {
    }
    EXPECT_GT(platform::ticks(), first);
}

TEST(Ticks, AreOneCounterForAllThreads) {
    if (!platform::steadyTicks()) {
        GTEST_SKIP() << "this processor has no counter of one rate";
    }
    const std::uint64_t before = platform::ticks();
    std::uint64_t elsewhere = 0;
    std::thread([&] { elsewhere = platform::ticks(); }).join();
    EXPECT_GE(elsewhere, before) << "starting a thread takes longer than counters may differ";
    EXPECT_GE(platform::ticks(), elsewhere);
}

TEST(Ticks, LeaveErrnoAlone) {
    errno = EINTR;
    static_cast<void>(platform::ticks());
    static_cast<void>(platform::steadyTicks());
    static_cast<void>(now());
    EXPECT_EQ(errno, EINTR);
}

TEST(Clock, ReadsTheClockOfTheSystem) {
    struct timespec before = {};
    struct timespec after = {};
    ASSERT_EQ(::clock_gettime(CLOCK_REALTIME, &before), 0);
    const std::uint64_t told = platform::clockNanoseconds(CLOCK_REALTIME);
    ASSERT_EQ(::clock_gettime(CLOCK_REALTIME, &after), 0);
    const auto nanoseconds = [](const struct timespec& time) {
        return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
               static_cast<std::uint64_t>(time.tv_nsec);
    };
    EXPECT_GE(told, nanoseconds(before));
    EXPECT_LE(told, nanoseconds(after));
}

TEST(Clock, UnknownClockReadsZero) {
    EXPECT_EQ(platform::clockNanoseconds(static_cast<::clockid_t>(999)), 0U);
}

} // namespace
} // namespace heapwright::testing
