// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/observe/trace_record.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace heapwright::testing {
namespace {

std::string line(const TraceRecord& record) {
    return std::string(lineOf(record).view());
}

TEST(TraceRecord, EveryVerbHasItsLine) {
    EXPECT_EQ(line({1, Verb::malloc, 0, 0, 40, 0x1000}), "1 malloc 40 = 0x1000\n");
    EXPECT_EQ(line({2, Verb::zalloc, 0, 0, 40, 0}), "2 zalloc 40 = 0x0\n");
    EXPECT_EQ(line({3, Verb::mallocHeld, 0, 0, 40, 0}), "3 mallocHeld 40 = 0x0\n");
    EXPECT_EQ(line({4, Verb::memalign, 0, 64, 40, 0x40}), "4 memalign 64 40 = 0x40\n");
    EXPECT_EQ(line({5, Verb::memalignHeld, 0, 64, 40, 0}), "5 memalignHeld 64 40 = 0x0\n");
    EXPECT_EQ(line({6, Verb::resize, 0x40, 0, 80, 1}), "6 resize 0x40 80 = 1\n");
    EXPECT_EQ(line({7, Verb::relocate, 0x40, 0, 80, 0x80}), "7 relocate 0x40 80 = 0x80\n");
    EXPECT_EQ(line({8, Verb::getSize, 0x40, 0, 0, 48}), "8 getSize 0x40 = 48\n");
    EXPECT_EQ(line({9, Verb::free, 0x40, 0, 0, 0}), "9 free 0x40\n");
    EXPECT_EQ(line({10, Verb::trim, 0, 0, 99, 0}), "10 trim 99 = 0\n");
    EXPECT_EQ(line({11, Verb::flush, 0, 0, 0, 1}), "11 flush = 1\n");
    EXPECT_EQ(line({12, Verb::clear, 0, 0, 0, 0}), "12 clear\n");
}

TEST(TraceRecord, TheLongestLineIsNotCut) {
    for (std::size_t i = 0; i < verbCount; ++i) {
        const Verb verb{static_cast<std::uint8_t>(i)};
        const auto text = lineOf({UINT64_MAX, verb, UINT64_MAX, SIZE_MAX, SIZE_MAX, UINT64_MAX});
        EXPECT_FALSE(text.cut()) << nameOf(verb);
    }
}

} // namespace
} // namespace heapwright::testing
