// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/large_limit.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(FixedLimit, StaysWhereItIs) {
    FixedLimit<1000> limit;
    EXPECT_FALSE(limit.isLarge(999));
    limit.noteFreed(5000);
    EXPECT_TRUE(limit.isLarge(1000));
}

TEST(RisingLimit, LearnsFromFreedObjects) {
    RisingLimit<1000, 4000> limit;
    EXPECT_TRUE(limit.isLarge(1000));
    limit.noteFreed(2000);
    EXPECT_FALSE(limit.isLarge(1999));
    EXPECT_TRUE(limit.isLarge(2000));
    limit.noteFreed(1500);
    EXPECT_FALSE(limit.isLarge(1999)) << "it never falls";
    limit.noteFreed(5000);
    EXPECT_TRUE(limit.isLarge(4000)) << "nor rises beyond its end";
}

} // namespace
} // namespace heapwright::testing
