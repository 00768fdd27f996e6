// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/power_of_two.hpp>
#include <heapwright/sizeclass/size_classes.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace heapwright::testing {
namespace {

using Classes = PowerOfTwo<29>;

TEST(PowerOfTwo, IsASetOfSizeClasses) {
    EXPECT_TRUE(SizeClasses<Classes>);
}

TEST(PowerOfTwo, RoundsARequestUpToTheFirstClassThatHoldsIt) {
    for (std::size_t request = 1; request <= 1000000; request += 1 + request / 500) {
        const std::size_t index = Classes::classFor(request);
        ASSERT_LT(index, Classes::count) << request;
        ASSERT_GE(Classes::sizeOf(index), request);
        ASSERT_TRUE(index == 0 || Classes::sizeOf(index - 1) < request) << request;
    }
}

TEST(PowerOfTwo, RoundsACapacityDownToTheLastClassItServes) {
    for (std::size_t index = 0; index < Classes::count; ++index) {
        EXPECT_EQ(Classes::classOf(Classes::sizeOf(index)), index);
        EXPECT_EQ(Classes::classFor(Classes::sizeOf(index)), index);
        EXPECT_LE(Classes::sizeOf(Classes::classOf(Classes::sizeOf(index) + 8)),
                  Classes::sizeOf(index) + 8);
    }
}

TEST(PowerOfTwo, SaysWhatIsBeyondTheLargestClass) {
    const std::size_t largest = Classes::sizeOf(Classes::count - 1);
    EXPECT_LT(Classes::classFor(largest), Classes::count);
    EXPECT_GE(Classes::classFor(largest + 1), Classes::count);
    EXPECT_GE(Classes::classFor(PTRDIFF_MAX), Classes::count);
    EXPECT_GE(Classes::classOf(4 * largest), Classes::count);
}

} // namespace
} // namespace heapwright::testing
