// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/list/size_floor.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(SizeFloor, CoversTheSmallestRequest) {
    SizeFloor<false> floor;
    EXPECT_TRUE(floor.covers(1'000'000)) << "nothing waits yet that could be too small";
    EXPECT_EQ(floor.times(3), 0U);
    floor.note(64);
    floor.note(100);
    EXPECT_TRUE(floor.covers(64));
    EXPECT_FALSE(floor.covers(65));
    EXPECT_EQ(floor.times(3), 192U);
    floor.reset();
    EXPECT_TRUE(floor.covers(65));
}

TEST(SizeFloor, AFloorWithoutCheckCoversEverySize) {
    SizeFloor<true> floor;
    floor.note(8);
    EXPECT_TRUE(floor.covers(1'000'000));
    EXPECT_EQ(floor.times(3), 0U);
    floor.reset();
}

} // namespace
} // namespace heapwright::testing
