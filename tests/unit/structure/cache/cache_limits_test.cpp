// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/cache/cache_limits.hpp>

#include <gtest/gtest.h>

#include <cstddef>

namespace heapwright::testing {
namespace {

using Limits = CacheLimits<2048, 32, 512, 8, 32, 65536>;

TEST(CacheLimits, KeepLessOfWhatIsLarger) {
    EXPECT_EQ(Limits::roomFor(16), 32U);
    EXPECT_EQ(Limits::roomFor(64), 32U);
    EXPECT_EQ(Limits::roomFor(80), 25U);
    EXPECT_EQ(Limits::roomFor(2048), 1U);
    EXPECT_EQ(Limits::roomFor(16384), 1U) << "one at least";
    EXPECT_EQ(Limits::refillFor(16), 8U);
    EXPECT_EQ(Limits::refillFor(128), 4U);
    EXPECT_EQ(Limits::refillFor(600), 1U);
}

TEST(CacheLimits, MoveNoMoreThanThereIsRoomFor) {
    for (std::size_t size = 16; size <= 16384; size += 16) {
        ASSERT_LE(Limits::refillFor(size), Limits::roomFor(size));
        ASSERT_LE(Limits::flushFor(size), Limits::roomFor(size));
        ASSERT_GE(Limits::flushFor(size), 1U);
        ASSERT_GE(Limits::refillFor(size), 1U);
    }
}

} // namespace
} // namespace heapwright::testing
