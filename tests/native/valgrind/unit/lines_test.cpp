// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Which thread wrote which line, over the lives of its memory.
#include <valgrind/count/lines.hpp>

#include <gtest/gtest.h>

namespace heapwright::valgrind {
namespace {

TEST(Lines, SingleWriterSharesNoLine) {
    Lines lines;
    lines.write(100, 8, 1);
    lines.write(101, 8, 1);
    EXPECT_EQ(lines.total().lines, 1U);
    EXPECT_EQ(lines.total().shared, 0U);
    EXPECT_EQ(lines.total().sharedWrites, 0U);
}

TEST(Lines, TwoWritersOfOneLineShareItAndAllItsWrites) {
    Lines lines;
    lines.write(64, 1, 1);
    lines.write(64, 1, 1);
    lines.write(127, 1, 2);
    lines.write(128, 1, 1);
    EXPECT_EQ(lines.total().lines, 2U);
    EXPECT_EQ(lines.total().shared, 1U);
    EXPECT_EQ(lines.total().sharedWrites, 3U);
}

TEST(Lines, AWriteAcrossABoundaryIsInBothLines) {
    Lines lines;
    lines.write(120, 16, 1);
    lines.write(130, 1, 2);
    EXPECT_EQ(lines.total().lines, 2U);
    EXPECT_EQ(lines.total().shared, 1U);
}

class Forgetting : public testing::TestWithParam<std::uint64_t> {};

// The range is small beside the lines that are known, or large beside them.
TEST_P(Forgetting, WhatWasSharedStaysCountedAndANewLifeBegins) {
    Lines lines;
    lines.write(64, 1, 1);
    lines.write(64, 1, 2);
    lines.write(128, 1, 1);
    lines.write(1 << 20, 1, 1);
    lines.forget(64, GetParam());
    lines.write(64, 1, 3);
    lines.write(128, 1, 2);
    lines.write(1 << 20, 1, 2);
    EXPECT_EQ(lines.total().shared, 2U); // the first in its first life, and the last
    EXPECT_EQ(lines.total().sharedWrites, 4U);
    EXPECT_EQ(lines.total().lines, 5U);
}

INSTANTIATE_TEST_SUITE_P(Ranges, Forgetting, testing::Values(192, 1 << 19));

TEST(Lines, ALineThatIsPartlyInTheRangeGoesOn) {
    Lines lines;
    lines.write(64, 1, 1);
    lines.write(192, 1, 1);
    lines.forget(65, 255);
    lines.write(64, 1, 2);
    lines.write(192, 1, 2);
    EXPECT_EQ(lines.total().shared, 2U);
    lines.forget(10, 5);
    EXPECT_EQ(lines.total().shared, 2U);
}

} // namespace
} // namespace heapwright::valgrind
