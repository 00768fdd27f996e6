// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How the recorded calls are divided into windows.
#include "replayer/prepare/windows.hpp"

#include <gtest/gtest.h>

namespace heapwright::replayer::testing {
namespace {

constexpr std::uint64_t bound = 4000;

TEST(Windows, CallsThatBalanceInTheirThreadsStayTogether) {
    Windows windows(2, bound);
    for (int at = 0; at < 100'000; ++at) {
        windows.place(static_cast<std::size_t>(at % 2), 0, 400);
        windows.place(static_cast<std::size_t>(at % 2), 400, 0);
    }
    EXPECT_EQ(windows.current(), 0U);
}

TEST(Windows, AThreadThatOnlyAllocatesFillsThem) {
    Windows windows(2, bound);
    for (int at = 0; at < 1000; ++at) {
        windows.place(0, 0, 100); // ten to a window
    }
    EXPECT_EQ(windows.current(), 99U);
    const Entry entry = windows.place(0, 0, 100);
    EXPECT_EQ(entry.window, 100U);
    EXPECT_EQ(entry.needed, 97U) << "four windows are as much as the bound";
}

TEST(Windows, AThreadThatFreesForAnotherCountsAsMuch) {
    Windows windows(2, bound);
    for (int at = 0; at < 1000; ++at) {
        windows.place(0, 0, 100);
        windows.place(1, 100, 0);
    }
    EXPECT_EQ(windows.current(), 199U);
}

TEST(Windows, NoThreadPassesACallThatIsLargerThanTheBound) {
    Windows windows(2, bound);
    windows.place(0, 0, 100);
    const Entry large = windows.place(1, 0, 10 * bound);
    EXPECT_EQ(large.window, 1U);
    EXPECT_EQ(large.needed, 1U);
    const Entry after = windows.place(0, 100, 0);
    EXPECT_EQ(after.window, 2U);
    EXPECT_EQ(after.needed, 2U);
}

TEST(Windows, AnEntrySurvivesItsCommand) {
    const Entry entry = Entry::of(Entry{.window = 123'456'789, .needed = 123'456'700}.value());
    EXPECT_EQ(entry.window, 123'456'789U);
    EXPECT_EQ(entry.needed, 123'456'700U);
}

} // namespace
} // namespace heapwright::replayer::testing
