// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/observe/call_statistics.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace heapwright::testing {
namespace {

TEST(CallStatistics, CountsCallsAndFailures) {
    CallStatistics statistics;
    statistics.count(Verb::malloc, true);
    statistics.count(Verb::malloc, false);
    EXPECT_EQ(statistics.of(Verb::malloc).calls, 2U);
    EXPECT_EQ(statistics.of(Verb::malloc).failures, 1U);
    EXPECT_EQ(statistics.of(Verb::free).calls, 0U);
}

TEST(CallStatistics, SortsRequestsByPowersOfTwo) {
    CallStatistics statistics;
    for (const std::size_t size : {0U, 1U, 2U, 3U, 4U, 7U, 8U}) {
        statistics.countRequest(size, true);
    }
    statistics.countRequest(~std::size_t{0}, false);
    EXPECT_EQ(statistics.sizes[0], 2U);
    EXPECT_EQ(statistics.sizes[1], 2U);
    EXPECT_EQ(statistics.sizes[2], 2U);
    EXPECT_EQ(statistics.sizes[3], 1U);
    EXPECT_EQ(statistics.sizes[63], 1U);
    EXPECT_EQ(statistics.bytesRequested, 25U) << "without what was not given";
}

TEST(CallStatistics, KeepsThePeakOfLiveMemory) {
    CallStatistics statistics;
    statistics.add(100);
    statistics.add(50);
    statistics.remove(100);
    statistics.grow(30);
    statistics.grow(std::size_t{0} - 60);
    EXPECT_EQ(statistics.liveObjects, 1U);
    EXPECT_EQ(statistics.peakObjects, 2U);
    EXPECT_EQ(statistics.liveBytes, 20U);
    EXPECT_EQ(statistics.peakBytes, 150U);
}

TEST(CallStatistics, OmitsCallsThatNeverHappened) {
    CallStatistics statistics;
    statistics.count(Verb::malloc, true);
    statistics.countRequest(40, true);
    statistics.add(48);
    FixedText<4096> text;
    statistics.writeTo(text);
    EXPECT_EQ(text.view(), "live objects 1, at most 1\n"
                           "live bytes 48, at most 48\n"
                           "bytes requested 40\n"
                           "malloc 1, without success 0\n"
                           "requests from 32 bytes: 1\n");
}

TEST(CallStatistics, TheLongestTextIsNotCut) {
    CallStatistics statistics;
    statistics.verbs.fill({UINT64_MAX, UINT64_MAX});
    statistics.sizes.fill(UINT64_MAX);
    FixedText<8192> text;
    statistics.writeTo(text);
    EXPECT_FALSE(text.cut());
}

} // namespace
} // namespace heapwright::testing
