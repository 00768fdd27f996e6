// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/address.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(Address, RoundsToUnits) {
    EXPECT_EQ(roundUp(0, 16), 0U);
    EXPECT_EQ(roundUp(1, 16), 16U);
    EXPECT_EQ(roundUp(16, 16), 16U);
    EXPECT_EQ(roundUp(~std::size_t{0}, 16), 0U) << "wraps";
    EXPECT_EQ(roundDown(31, 16), 16U);
}

TEST(Address, RoundsToAPhase) {
    for (std::size_t value = 0; value < 100; ++value) {
        const std::size_t found = roundUpToPhase(value, 16, 8);
        EXPECT_EQ(found % 16, 8U);
        EXPECT_GE(found, value);
        EXPECT_LT(found, value + 16);
    }
}

TEST(Address, FindsTheHighestBit) {
    for (std::size_t bit = 0; bit < 64; ++bit) {
        const std::size_t power = std::size_t{1} << bit;
        EXPECT_EQ(floorLog2(power), bit);
        EXPECT_EQ(floorLog2(power | (power - 1)), bit);
    }
}

TEST(Address, GoesThereAndBack) {
    int word = 0;
    EXPECT_EQ(pointerTo(addressOf(&word)), &word);
    EXPECT_EQ(backward(forward(&word, 100), 100), &word);
}

} // namespace
} // namespace heapwright::testing
