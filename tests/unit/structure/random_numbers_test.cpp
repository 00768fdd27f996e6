// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/random_numbers.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace heapwright::testing {
namespace {

std::vector<std::size_t> firstHundred(RandomNumbers& numbers) {
    std::vector<std::size_t> drawn(100);
    for (std::size_t& number : drawn) {
        number = numbers.below(1'000'000);
    }
    return drawn;
}

TEST(RandomNumbers, StayBelowTheBoundAndReachAllOfIt) {
    RandomNumbers numbers(1);
    std::array<int, 10> times{};
    for (int i = 0; i < 10'000; ++i) {
        const std::size_t number = numbers.below(times.size());
        ASSERT_LT(number, times.size());
        ++times[number];
    }
    for (const int count : times) { // 1000 each, with a standard deviation of 30
        EXPECT_LT(std::abs(count - 1000), 200);
    }
    EXPECT_EQ(numbers.below(1), 0U);
}

TEST(RandomNumbers, RepeatOnlyWithTheirSeed) {
    RandomNumbers one(7);
    RandomNumbers same(7);
    RandomNumbers other(8);
    const std::vector<std::size_t> drawn = firstHundred(one);
    EXPECT_EQ(drawn, firstHundred(same));
    EXPECT_NE(drawn, firstHundred(other));
}

TEST(RandomNumbers, AreSeededFromTheSystem) {
    RandomNumbers one;
    RandomNumbers other;
    EXPECT_NE(firstHundred(one), firstHundred(other));
}

TEST(RandomNumbers, ForgetDrawsANewSeed) {
    RandomNumbers numbers(7);
    RandomNumbers same(7);
    numbers.forget();
    EXPECT_NE(firstHundred(numbers), firstHundred(same));
}

} // namespace
} // namespace heapwright::testing
