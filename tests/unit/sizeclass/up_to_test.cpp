// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/geometric_slots.hpp>
#include <heapwright/sizeclass/power_of_two.hpp>
#include <heapwright/sizeclass/up_to.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(UpTo, HasTheFirstClassesOfAnother) {
    using All = GeometricSlots<6, 5, 16, 4 * KiB>;
    using First = UpTo<256, All>;
    static_assert(SizeClasses<First>);
    ASSERT_LT(First::count, All::count);
    EXPECT_LE(First::sizeOf(First::count - 1), 256U);
    EXPECT_GT(All::sizeOf(First::count), 256U);
    for (std::size_t size = 1; size <= 5000; ++size) {
        EXPECT_EQ(First::classFor(size), All::classFor(size));
        EXPECT_EQ(First::classOf(size), All::classOf(size));
        EXPECT_EQ(First::classFor(size) < First::count, size <= First::sizeOf(First::count - 1));
    }
}

TEST(UpTo, HasThemAllIfTheyAreSmallEnough) {
    using All = PowerOfTwo<6>;
    EXPECT_EQ((UpTo<1 * MiB, All>::count), All::count);
    EXPECT_EQ((UpTo<8, All>::count), 1U);
}

} // namespace
} // namespace heapwright::testing
