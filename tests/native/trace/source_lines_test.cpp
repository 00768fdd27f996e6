// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The lines of a function of CPython, from its table.
#include "trace/source_lines.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace heapwright::trace::test {
namespace {

std::string bytes(std::initializer_list<unsigned> values) {
    std::string text;
    for (const unsigned value : values)
        text.push_back(static_cast<char>(value));
    return text;
}

constexpr unsigned head(unsigned form, unsigned instructions) {
    return 0x80U | form << 3U | (instructions - 1);
}

TEST(SourceLines, EachFormChangesTheLineAsItSays) {
    const SourceLines lines(10, bytes({head(0, 2), 0x12,                 // the same line
                                       head(11, 1), 4, 9,                // the next
                                       head(13, 8), 0x15,                // 10 less
                                       head(15, 1),                      // no line
                                       head(14, 3), 0x68, 0x01, 0, 1, 1, // 52 more
                                       head(12, 1), 0, 0}));             // two more
    EXPECT_EQ(lines.at(0), 10U); // before the first instruction
    EXPECT_EQ(lines.at(1), 10U);
    EXPECT_EQ(lines.at(2), 10U);
    EXPECT_EQ(lines.at(3), 11U);
    EXPECT_EQ(lines.at(4), 1U);
    EXPECT_EQ(lines.at(11), 1U);
    EXPECT_EQ(lines.at(12), 0U);
    EXPECT_EQ(lines.at(13), 53U);
    EXPECT_EQ(lines.at(15), 53U);
    EXPECT_EQ(lines.at(16), 55U);
    EXPECT_EQ(lines.at(17), 0U); // beyond the table
    EXPECT_EQ(lines.at(~std::uint64_t{0}), 0U);
}

TEST(SourceLines, WithoutATableOnlyTheFirstLineIsKnown) {
    const SourceLines lines(7, {});
    EXPECT_EQ(lines.at(0), 7U);
    EXPECT_EQ(lines.at(1), 0U);
}

TEST(SourceLines, ADamagedTableEndsWhereItMakesNoSense) {
    EXPECT_EQ(SourceLines(5, bytes({head(0, 1), 0, 0x12, 0, head(0, 1), 0})).at(2), 0U);
    EXPECT_EQ(SourceLines(5, bytes({head(13, 1), 0x41})).at(1), 0U); // cut in a number
    EXPECT_EQ(SourceLines(5, bytes({head(13, 1), 0x0F})).at(1), 0U); // a line below zero
    std::mt19937_64 random{20261127};
    for (int round = 0; round < 20000; ++round) {
        std::string table(random() % 60, '\0');
        for (char& byte : table)
            byte = static_cast<char>(random() % 4 == 0 ? random() : random() | 0x80U);
        const SourceLines lines(3, table);
        EXPECT_EQ(lines.at(0), 3U);
        EXPECT_EQ(lines.at(8 * table.size() + 2), 0U);
    }
}

} // namespace
} // namespace heapwright::trace::test
