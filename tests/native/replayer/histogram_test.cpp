// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps of a histogram are whole, in order and narrow; quantiles are those of a sorted list.
#include "replayer/histogram.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace heapwright::replayer {
namespace {

TEST(Histogram, EachNumberCountsInTheStepThatEndsAtOrBehindIt) {
    std::mt19937_64 random(7);
    for (int at = 0; at < 100'000; ++at) {
        const std::uint64_t ticks = random() >> (25 + random() % 39);
        const std::size_t step = Histogram::stepOf(ticks);
        ASSERT_LE(ticks, Histogram::upperEnd(step));
        if (step > 0) {
            ASSERT_GT(ticks, Histogram::upperEnd(step - 1));
        }
        ASSERT_LE(Histogram::upperEnd(step) - ticks, ticks / 16);
    }
}

TEST(Histogram, EvenAClockThatWentBackCountsSomewhere) {
    EXPECT_LT(Histogram::stepOf(UINT64_MAX), Histogram::steps);
    EXPECT_LT(Histogram::stepOf(UINT64_MAX - 100), Histogram::steps);
}

TEST(Histogram, QuantilesAreThoseOfASortedListWithinAStep) {
    std::mt19937_64 random(8);
    Histogram histogram;
    std::vector<std::uint64_t> sorted;
    for (int at = 0; at < 50'000; ++at) {
        sorted.push_back(random() >> (30 + random() % 30));
        histogram.add(sorted.back());
    }
    std::sort(sorted.begin(), sorted.end());
    for (const double share : {0.5, 0.9, 0.99, 0.999, 0.9999}) {
        const auto exact = static_cast<double>(
            sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size())) - 1]);
        const auto found = static_cast<double>(histogram.quantile(share));
        EXPECT_GE(found, exact) << share;
        EXPECT_LE(found, exact * 1.07 + 1) << share;
    }
    EXPECT_EQ(histogram.most, sorted.back());
    EXPECT_EQ(histogram.calls(), sorted.size());
}

TEST(Histogram, AddedUpItIsOneOfAllCalls) {
    Histogram one;
    Histogram other;
    one.add(5);
    other.add(5);
    other.add(900);
    one.add(other);
    EXPECT_EQ(one.calls(), 3U);
    EXPECT_EQ(one.sum, 910U);
    EXPECT_EQ(one.most, 900U);
    EXPECT_EQ(one.quantile(0.5), 5U);
}

TEST(Histogram, OfNothingSaysNothing) {
    const Histogram histogram;
    EXPECT_EQ(histogram.quantile(0.5), 0U);
    EXPECT_EQ(histogram.calls(), 0U);
}

} // namespace
} // namespace heapwright::replayer
