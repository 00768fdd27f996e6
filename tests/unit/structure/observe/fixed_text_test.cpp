// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/observe/fixed_text.hpp>

#include <gtest/gtest.h>

#include <string>

namespace heapwright::testing {
namespace {

TEST(FixedText, JoinsWordsAndNumbers) {
    FixedText<64> text;
    text.put("a ").putNumber(0).put(' ').putNumber(UINT64_MAX).put(' ').putHex(0xC0FFEE);
    EXPECT_EQ(text.view(), "a 0 18446744073709551615 0xc0ffee");
    EXPECT_FALSE(text.cut());
}

TEST(FixedText, FillsUpWithNoughts) {
    FixedText<64> text;
    EXPECT_EQ(text.putNumber(7, 3).view(), "007");
}

TEST(FixedText, DividesToThreeDecimals) {
    const auto ratio = [](std::uint64_t over, std::uint64_t under) {
        FixedText<64> text;
        text.putRatio(over, under);
        return std::string(text.view());
    };
    EXPECT_EQ(ratio(3, 2), "1.500");
    EXPECT_EQ(ratio(2, 3), "0.666");
    EXPECT_EQ(ratio(1, 0), "-");
    EXPECT_EQ(ratio(0, 5), "0.000");
    EXPECT_EQ(ratio(UINT64_MAX, UINT64_MAX), "1.000");
    EXPECT_EQ(ratio(UINT64_MAX - 1, UINT64_MAX), "0.999");
}

TEST(FixedText, ReportsTruncation) {
    FixedText<4> text;
    text.put("hello");
    EXPECT_EQ(text.view(), "hell");
    EXPECT_TRUE(text.cut());
    text.clear();
    EXPECT_EQ(text.view(), "");
    EXPECT_FALSE(text.cut());
}

TEST(FixedText, IsMadeWhileCompiling) {
    constexpr auto made = [] {
        FixedText<8> text;
        text.putNumber(42);
        return text;
    }();
    static_assert(made.view() == "42");
    EXPECT_EQ(made.view(), "42");
}

} // namespace
} // namespace heapwright::testing
