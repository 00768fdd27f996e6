// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/superblock/line_policies.hpp>

#include <gtest/gtest.h>

namespace heapwright {
namespace {

TEST(LinePolicies, DifferInWhichObjectsWithholdSlots) {
    EXPECT_FALSE(AnyLines::clean);
    EXPECT_TRUE(CleanLines::clean);
    EXPECT_FALSE(CleanLines::forgetsEnded);
    EXPECT_TRUE(CleanRunningLines::clean);
    EXPECT_TRUE(CleanRunningLines::forgetsEnded);
}

} // namespace
} // namespace heapwright
