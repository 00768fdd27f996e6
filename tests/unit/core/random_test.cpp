// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/core/random.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>

namespace heapwright::testing {
namespace {

TEST(Random, SameSeedAndStreamGiveTheSameNumbers) {
    Random one(3, 5);
    Random other(3, 5);
    for (int step = 0; step < 100; ++step) {
        EXPECT_EQ(one.next(), other.next());
    }
}

TEST(Random, NumbersAreThePublishedOnes) {
    // The first three of SplitMix64 from the state 0, as its authors print them.
    std::uint64_t state = 0;
    for (const std::uint64_t expected :
         {0xe220a8397b1dcdafU, 0x6e789e6aa1b965f4U, 0x06c45d188009454fU}) {
        state += 0x9e3779b97f4a7c15U;
        EXPECT_EQ(Random::mixed(state), expected);
    }
}

TEST(Random, SeedsAndStreamsAreUnrelated) {
    std::set<std::uint64_t> firsts;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        for (std::uint64_t stream = 0; stream < 30; ++stream) {
            firsts.insert(Random(seed, stream).next());
        }
    }
    EXPECT_EQ(firsts.size(), 900U);
}

TEST(Random, BoundsAreKeptAndReached) {
    Random random(1);
    std::array<int, 5> counts{};
    for (int step = 0; step < 10'000; ++step) {
        ++counts[random.below(5)];
        const std::uint64_t between = random.between(7, 9);
        EXPECT_GE(between, 7U);
        EXPECT_LE(between, 9U);
        const double real = random.real();
        EXPECT_GE(real, 0.0);
        EXPECT_LT(real, 1.0);
    }
    for (const int count : counts) { // 2,000 each; the standard deviation is 40
        EXPECT_NEAR(count, 2'000, 300);
    }
    EXPECT_EQ(random.below(1), 0U);
    EXPECT_EQ(random.between(4, 4), 4U);
}

TEST(Random, ChanceIsTrueWithItsProbability) {
    Random random(2);
    int hits = 0;
    for (int step = 0; step < 10'000; ++step) {
        hits += random.chance(0.25) ? 1 : 0;
        EXPECT_FALSE(random.chance(0.0));
        EXPECT_TRUE(random.chance(1.0));
    }
    EXPECT_NEAR(hits, 2'500, 300); // the standard deviation is 43
}

} // namespace
} // namespace heapwright::testing
