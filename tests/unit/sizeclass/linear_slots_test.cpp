// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/linear_slots.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace heapwright::testing {
namespace {

template <class Classes>
void expectSound(std::size_t linear, std::size_t fine, std::size_t largest) {
    std::size_t index = 0;
    for (std::size_t request = 1; request <= largest; ++request) {
        if (request > Classes::sizeOf(index)) {
            ++index; // each class follows the one before without a gap
        }
        ASSERT_EQ(Classes::classFor(request), index) << request;
        ASSERT_GE(Classes::sizeOf(index), request);
        const std::size_t lost = Classes::sizeOf(index) - request;
        const std::size_t of = Classes::sizeOf(index);
        ASSERT_TRUE(lost < 16 || lost * (request <= fine ? 9U : 5U) < of) << request;
        ASSERT_TRUE(request > linear || Classes::linearClassFor(request) == index);
    }
    EXPECT_EQ(index + 1, Classes::count);
    EXPECT_EQ(Classes::sizeOf(index), largest);
    for (std::size_t at = 0; at < Classes::count; ++at) {
        EXPECT_EQ(Classes::sizeOf(at) % 16, 0U);
        EXPECT_EQ(Classes::classOf(Classes::sizeOf(at)), at);
        EXPECT_EQ(Classes::classOf(Classes::sizeOf(at) + 1),
                  at + 1 == Classes::count ? at + 1 : at);
    }
    EXPECT_GE(Classes::classOf(15), Classes::count);
    EXPECT_GE(Classes::classOf(0), Classes::count);
    EXPECT_EQ(Classes::classFor(largest + 1), Classes::count);
    EXPECT_EQ(Classes::classFor(SIZE_MAX), Classes::count);
    EXPECT_GE(Classes::linearClassFor(0), Classes::count);
    EXPECT_EQ(Classes::largerClassFor(0), Classes::count);
    EXPECT_EQ(Classes::largerClassFor(largest), Classes::count - 1);
    EXPECT_EQ(Classes::largerClassFor(largest + 1), Classes::count);
}

TEST(LinearSlots, FollowEachOtherWithoutAGap) {
    expectSound<LinearSlots<512, 4 * KiB, 16 * KiB>>(512, 4 * KiB, 16 * KiB);
    expectSound<LinearSlots<1 * KiB, 1 * KiB, 32 * KiB>>(1 * KiB, 1 * KiB, 32 * KiB);
    expectSound<LinearSlots<512, 512, 512>>(512, 512, 512);
}

TEST(LinearSlots, HaveEightToADoublingAndThenFour) {
    using Classes = LinearSlots<512, 4 * KiB, 16 * KiB>;
    EXPECT_EQ(Classes::count, 32U + 3 * 8 + 2 * 4);
    EXPECT_EQ(Classes::sizeOf(31), 512U);
    EXPECT_EQ(Classes::sizeOf(32), 576U);
    EXPECT_EQ(Classes::sizeOf(40), 1152U);
    EXPECT_EQ(Classes::sizeOf(55), 4096U);
    EXPECT_EQ(Classes::sizeOf(56), 5120U);
}

static_assert(SizeClasses<LinearSlots<512, 4 * KiB, 16 * KiB>>);

} // namespace
} // namespace heapwright::testing
