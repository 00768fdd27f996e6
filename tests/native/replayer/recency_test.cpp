// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks of live objects against a plain list, and the ranks that are drawn from them.
#include "replayer/prepare/locality.hpp"
#include "replayer/prepare/recency.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace heapwright::replayer::testing {
namespace {

TEST(Recency, RanksAreThoseOfAPlainList) {
    std::mt19937_64 random(5);
    Recency recency;
    std::vector<std::uint64_t> plain; // youngest last
    std::uint64_t next = 0;
    for (int step = 0; step < 20'000; ++step) {
        const bool grows = plain.empty() || random() % 1000 < (step < 8000 ? 700U : 450U);
        if (grows) {
            next += 1 + random() % 3;
            recency.add({.number = next, .size = 2 * next, .slot = 1});
            plain.push_back(next);
        } else {
            const std::size_t at = random() % plain.size();
            ASSERT_TRUE(recency.has(plain[at]));
            ASSERT_EQ(recency.rank(plain[at]), plain.size() - 1 - at);
            recency.remove(plain[at]);
            ASSERT_FALSE(recency.has(plain[at]));
            plain.erase(plain.begin() + static_cast<std::ptrdiff_t>(at));
        }
        ASSERT_EQ(recency.live(), plain.size());
        if (!plain.empty()) {
            const std::size_t rank = random() % plain.size();
            ASSERT_EQ(recency.at(rank).number, plain[plain.size() - 1 - rank]);
            ASSERT_EQ(recency.at(rank).size, 2 * recency.at(rank).number);
        }
    }
    EXPECT_FALSE(recency.has(next + 1));
}

TEST(Locality, StepsAreDoublings) {
    EXPECT_EQ(Locality::stepOf(0), 0U);
    EXPECT_EQ(Locality::stepOf(1), 1U);
    EXPECT_EQ(Locality::stepOf(2), 1U);
    EXPECT_EQ(Locality::stepOf(3), 2U);
    EXPECT_EQ(Locality::stepOf(6), 2U);
    EXPECT_EQ(Locality::stepOf(7), 3U);
}

TEST(Locality, DrawsTheRanksThatItHasSeen) {
    std::mt19937_64 random(6);
    Locality stack;
    stack.add(0);
    Locality mixed;
    for (int at = 0; at < 3; ++at) {
        mixed.add(0);
    }
    mixed.add(100); // in the step of 63 to 126
    std::array<int, 200> seen{};
    for (int at = 0; at < 4000; ++at) {
        EXPECT_EQ(stack.draw(random, 1000), 0U);
        ++seen.at(mixed.draw(random, 1000));
    }
    EXPECT_NEAR(seen[0], 3000, 150);
    EXPECT_EQ(std::count_if(seen.begin(), seen.end(), [](int count) { return count > 0; }), 65);
    EXPECT_EQ(std::count(seen.begin() + 1, seen.begin() + 63, 0), 62);
    EXPECT_LT(mixed.draw(random, 1), 1U);
}

} // namespace
} // namespace heapwright::replayer::testing
