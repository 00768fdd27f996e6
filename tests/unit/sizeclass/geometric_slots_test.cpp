// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/geometric_slots.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heapwright::testing {
namespace {

using Hoard = GeometricSlots<6, 5, 16, 4 * KiB>;
using Faithful = GeometricSlots<6, 5, 8, 4 * KiB>;

template <class Classes>
void expectSound() {
    for (std::size_t index = 0; index < Classes::count; ++index) {
        EXPECT_EQ(Classes::classFor(Classes::sizeOf(index)), index);
        EXPECT_EQ(Classes::classOf(Classes::sizeOf(index)), index);
        if (index > 0) {
            const std::size_t before = Classes::sizeOf(index - 1);
            EXPECT_EQ(Classes::classFor(before + 1), index);
            EXPECT_EQ(Classes::classOf(Classes::sizeOf(index) - 1), index - 1);
            EXPECT_GT(Classes::sizeOf(index), before);
            EXPECT_EQ(Classes::sizeOf(index) % 16, 0U);
            EXPECT_LE(Classes::sizeOf(index), std::max(before * 6 / 5, before + 16));
        }
    }
    EXPECT_EQ(Classes::sizeOf(Classes::count - 1), 4 * KiB);
    EXPECT_EQ(Classes::classFor(4 * KiB + 1), Classes::count);
    EXPECT_EQ(Classes::classFor(SIZE_MAX), Classes::count);
}

TEST(GeometricSlots, AreAFifthApartOrSixteenBytes) {
    expectSound<Hoard>();
    expectSound<Faithful>();
}

TEST(GeometricSlots, MayHaveOneOfEightBytes) {
    EXPECT_EQ(Hoard::sizeOf(0), 16U);
    EXPECT_EQ(Hoard::classFor(1), 0U);
    EXPECT_EQ(Faithful::sizeOf(0), 8U);
    EXPECT_EQ(Faithful::sizeOf(1), 16U);
    EXPECT_EQ(Faithful::classFor(8), 0U);
    EXPECT_EQ(Faithful::classFor(9), 1U);
    EXPECT_EQ(Faithful::classFor(17), 2U);
}

TEST(GeometricSlots, SaysThatACapacityIsBelowEveryClass) {
    EXPECT_GE(Hoard::classOf(15), Hoard::count);
}

static_assert(SizeClasses<Hoard> && SizeClasses<Faithful>);

} // namespace
} // namespace heapwright::testing
