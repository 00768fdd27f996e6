// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/at_least.hpp>
#include <heapwright/sizeclass/exact.hpp>
#include <heapwright/sizeclass/from_list.hpp>
#include <heapwright/sizeclass/per_doubling.hpp>
#include <heapwright/sizeclass/power_of_two.hpp>
#include <heapwright/sizeclass/waste.hpp>

#include <support/size_class_model.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(Waste, IsTheShareOfTheBlockThatIsNeitherObjectNorTag) {
    // 25 bytes are the least that the block of 64 serves: 64 - 8 - 25 = 31 are lost.
    constexpr Waste waste = worstCaseWaste<FromList<32, 64>>(24);
    EXPECT_EQ(waste.bytes, 31U);
    EXPECT_EQ(waste.block, 64U);
    EXPECT_DOUBLE_EQ(waste.share(), 31.0 / 64.0);
}

TEST(Waste, IsComparedExactly) {
    EXPECT_TRUE((Waste{1, 5}.isAtMost(1, 5)));
    EXPECT_TRUE((Waste{31, 160}.isAtMost(1, 5)));
    EXPECT_FALSE((Waste{33, 160}.isAtMost(1, 5)));
    constexpr std::size_t huge = std::size_t{1} << 62U;
    EXPECT_LT(Waste::compare({huge - 1, huge}, {huge, huge}), 0);
    EXPECT_GT(Waste::compare({1, 2}, {huge / 2 - 1, huge}), 0);
    EXPECT_EQ(Waste::compare({1, 2}, {huge / 2, huge}), 0);
}

TEST(Waste, CountsFromTheLeastRequest) {
    using Classes = FourPerDoubling<40>;
    EXPECT_FALSE(worstCaseWaste<Classes>().isAtMost(1, 5)) << "one byte in 16";
    EXPECT_TRUE(worstCaseWaste<Classes>(57).isAtMost(1, 5));
    EXPECT_EQ(worstCaseWaste<Classes>(Classes::sizeOf(39) + 1).bytes, 0U) << "no class at all";
}

TEST(Waste, IsThatOfTheOldPoliciesToo) {
    expectTheWasteOfAllRequests<PowerOfTwo<12>>();
    expectTheWasteOfAllRequests<Exact<40>>();
    expectTheWasteOfAllRequests<AtLeast<24, PowerOfTwo<12>>>();
    EXPECT_TRUE(worstCaseWaste<PowerOfTwo<29>>().isAtMost(1, 2));
    EXPECT_FALSE((worstCaseWaste<AtLeast<24, PowerOfTwo<29>>>().isAtMost(1, 2)))
        << "one byte in a block of 32";
}

TEST(PowerOfTwoAndExact, AgreeWithAPlainSearch) {
    expectTheSmallestClassThatHolds<PowerOfTwo<12>>();
    expectTheWayBack<PowerOfTwo<12>>();
    expectTheSmallestClassThatHolds<Exact<64>>();
    expectTheWayBack<Exact<64>>();
}

} // namespace
} // namespace heapwright::testing
