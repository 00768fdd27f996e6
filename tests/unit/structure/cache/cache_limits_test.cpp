// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/cache/cache_limits.hpp>

#include <gtest/gtest.h>

#include <cstddef>

namespace heapwright::testing {
namespace {

constexpr auto limits = CacheLimits{.perClassBytes = 2048,
                                    .perClassObjects = 32,
                                    .refillBytes = 512,
                                    .batchObjects = 8,
                                    .remoteObjects = 32,
                                    .remoteBytes = 65536};

TEST(CacheLimits, KeepFewerLargeObjects) {
    EXPECT_EQ(limits.roomFor(16), 32U);
    EXPECT_EQ(limits.roomFor(64), 32U);
    EXPECT_EQ(limits.roomFor(80), 26U) << "rounded";
    EXPECT_EQ(limits.roomFor(1360), 2U) << "1.506";
    EXPECT_EQ(limits.roomFor(1376), 1U) << "1.488";
    EXPECT_EQ(limits.roomFor(2048), 1U);
    EXPECT_EQ(limits.roomFor(16384), 1U) << "one at least";
    EXPECT_EQ(limits.refillFor(16), 8U);
    EXPECT_EQ(limits.refillFor(128), 4U);
    EXPECT_EQ(limits.refillFor(600), 1U);
}

TEST(CacheLimits, MoveNoMoreThanThereIsRoomFor) {
    for (std::size_t size = 16; size <= 16384; size += 16) {
        ASSERT_LE(limits.refillFor(size), limits.roomFor(size));
        ASSERT_LE(limits.flushFor(size), limits.roomFor(size));
        ASSERT_GE(limits.flushFor(size), 1U);
        ASSERT_GE(limits.refillFor(size), 1U);
    }
}

TEST(CacheLimits, HaveCoarserSizesOfAtMostOneAndAHalfTimes) {
    EXPECT_EQ(CacheLimits::coarseSizeFor(64), 64U);
    EXPECT_EQ(CacheLimits::coarseSizeFor(80), 96U);
    EXPECT_EQ(CacheLimits::coarseSizeFor(112), 128U);
    EXPECT_EQ(CacheLimits::coarseSizeFor(128), 128U);
    EXPECT_EQ(CacheLimits::coarseSizeFor(144), 192U);
    EXPECT_EQ(CacheLimits::coarseSizeFor(3584), 4096U);
    EXPECT_EQ(CacheLimits::coarseSizeFor(5120), 5120U) << "more than a page";
    for (std::size_t size = 16; size <= 16384; size += 16) {
        const std::size_t coarse = CacheLimits::coarseSizeFor(size);
        ASSERT_GE(coarse, size);
        ASSERT_LT(2 * coarse, 3 * size);
        ASSERT_EQ(CacheLimits::coarseSizeFor(coarse), coarse);
    }
}

TEST(CacheLimits, DifferOnlyInTheNumberOfCoarseRefills) {
    EXPECT_EQ(limits.coarseRefills, 0U);
    constexpr CacheLimits coarse = limits.withCoarseRefills(5);
    EXPECT_EQ(coarse.coarseRefills, 5U);
    EXPECT_EQ(coarse.roomFor(80), limits.roomFor(80));
    EXPECT_FALSE(limits.withCoarseRefills(256).areValid());
}

} // namespace
} // namespace heapwright::testing
