// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/at_least.hpp>
#include <heapwright/sizeclass/power_of_two.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>

namespace heapwright::testing {
namespace {

using Below = PowerOfTwo<29>;
using Classes = AtLeast<24, Below>;

TEST(AtLeast, IsASetOfSizeClasses) {
    EXPECT_TRUE(SizeClasses<Classes>);
}

TEST(AtLeast, RaisesSmallRequestsToTheLeast) {
    for (std::size_t request = 1; request <= 24; ++request) {
        EXPECT_EQ(Classes::classFor(request), Below::classFor(24)) << request;
    }
    EXPECT_GT(Classes::classFor(1), Below::classFor(1));
}

TEST(AtLeast, LeavesTheOthersAlone) {
    for (std::size_t request = 24; request < 100000; request += 7) {
        EXPECT_EQ(Classes::classFor(request), Below::classFor(request)) << request;
    }
    EXPECT_GE(Classes::classFor(SIZE_MAX / 2), Classes::count);
}

TEST(AtLeast, AnObjectOfTheLeastSizeReturnsToItsClass) {
    EXPECT_EQ(Classes::classOf(24), Classes::classFor(1));
    EXPECT_EQ(Classes::sizeOf(Classes::classFor(1)), 24U);
    EXPECT_EQ(Classes::count, Below::count);
}

TEST(RaisedTo, RaisesOnlyWhereAClassIsSmaller) {
    EXPECT_TRUE((std::is_same_v<RaisedTo<8, Below>, Below>));
    EXPECT_TRUE((std::is_same_v<RaisedTo<16, Below>, AtLeast<16, Below>>));
}

} // namespace
} // namespace heapwright::testing
