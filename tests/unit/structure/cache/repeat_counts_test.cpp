// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/cache/repeat_counts.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(RepeatCounts, CountConsecutiveFills) {
    RepeatCounts<3> streaks;
    EXPECT_EQ(streaks.fill(1), 0U);
    EXPECT_EQ(streaks.fill(1), 1U);
    EXPECT_EQ(streaks.fill(1), 2U);
    EXPECT_EQ(streaks.fill(2), 0U) << "each list has its own";
    EXPECT_EQ(streaks.empty(0), 0U);
    EXPECT_EQ(streaks.empty(0), 1U);
}

TEST(RepeatCounts, EndWhenTheOppositeIsDone) {
    RepeatCounts<1> streaks;
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(streaks.fill(0), 0U);
        EXPECT_EQ(streaks.empty(0), 0U) << "to and fro is no streak";
    }
    EXPECT_EQ(streaks.empty(0), 1U);
    EXPECT_EQ(streaks.fill(0), 0U);
}

TEST(RepeatCounts, SaturateAtTheirMaximum) {
    RepeatCounts<1> streaks;
    for (unsigned i = 0; i < 1000; ++i) {
        EXPECT_EQ(streaks.fill(0), i < RepeatCounts<1>::most ? i : RepeatCounts<1>::most);
    }
    EXPECT_EQ(streaks.empty(0), 0U);
}

} // namespace
} // namespace heapwright::testing
