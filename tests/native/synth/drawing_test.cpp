// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Lotteries, urns, the wheel and invented addresses, each by its own promise.
#include "synth/address_space.hpp"
#include "synth/alias_table.hpp"
#include "synth/fenwick_sampler.hpp"
#include "synth/timing_wheel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace heapwright::synth {
namespace {

TEST(AliasTable, DrawsByWeightAndNeverWithWeightZero) {
    Random random(1);
    const AliasTable lottery({1, 0, 3, 0, 6});
    std::vector<int> drawn(5);
    constexpr int draws = 100'000;
    for (int at = 0; at < draws; ++at)
        ++drawn[lottery.draw(random)];
    EXPECT_EQ(drawn[1], 0);
    EXPECT_EQ(drawn[3], 0);
    EXPECT_NEAR(drawn[0], draws * 0.1, 500); // five standard deviations
    EXPECT_NEAR(drawn[2], draws * 0.3, 750);
}

TEST(AliasTable, WithoutWeightsIsEmpty) {
    EXPECT_TRUE(AliasTable(std::vector<double>{0, 0}).empty());
    EXPECT_TRUE(AliasTable(std::vector<double>{}).empty());
}

TEST(FenwickSampler, HandsOutEachKindAsOftenAsItIsInIt) {
    Random random(2);
    const std::vector<std::uint64_t> counts{3, 0, 1, 100, 7, 0};
    FenwickSampler urn(counts);
    std::vector<std::uint64_t> drawn(counts.size());
    while (urn.left() != 0)
        ++drawn[urn.draw(random)];
    EXPECT_EQ(drawn, counts);
}

TEST(FenwickSampler, CanBeEmptyFromTheStart) {
    EXPECT_EQ(FenwickSampler({}).left(), 0U);
    EXPECT_EQ(FenwickSampler({0, 0}).left(), 0U);
}

TEST(TimingWheel, HasEachBlockReadyAtItsEndAndNotBefore) {
    Random random(3);
    TimingWheel wheel;
    std::multimap<std::uint64_t, std::uint64_t> ends;
    for (std::uint64_t tick = 1; tick <= 20'000; ++tick) {
        wheel.advance();
        while (wheel.ready()) {
            const Block block = wheel.take();
            ASSERT_EQ(block.size, tick); // the size says when it is to end
            ends.erase(ends.find(tick));
        }
        ASSERT_EQ(ends.count(tick), 0U);
        const std::uint64_t end = tick + 1 + random.below(std::uint64_t{1} << random.below(15));
        wheel.add(end, {.address = tick, .size = end});
        ends.emplace(end, tick);
    }
    std::size_t left = 0;
    for (Block block; wheel.takeEarliest(block);)
        ++left;
    EXPECT_EQ(left, ends.size());
}

TEST(AddressSpace, NeverOverlapAmongLiveBlocks) {
    Random random(4);
    AddressSpace places;
    std::map<std::uint64_t, std::uint64_t> live; // address: size
    for (int step = 0; step < 20'000; ++step) {
        if (!live.empty() && random.below(2) == 0) {
            const auto victim =
                std::next(live.begin(), static_cast<long>(random.below(live.size())));
            places.release(victim->first, victim->second);
            live.erase(victim);
            continue;
        }
        const std::uint64_t size = random.below(std::uint64_t{1} << random.below(20)) + 1;
        const std::uint64_t alignment = random.below(8) == 0 ? 4096 : 0;
        const std::uint64_t address = places.take(size, alignment);
        ASSERT_EQ(address % (alignment == 0 ? 16 : alignment), 0U);
        ASSERT_GE(AddressSpace::usable(size), size);
        const auto next = live.lower_bound(address);
        ASSERT_TRUE(next == live.end() || address + size <= next->first);
        ASSERT_TRUE(next == live.begin() ||
                    std::prev(next)->first + std::prev(next)->second <= address);
        live.emplace(address, size);
    }
}

} // namespace
} // namespace heapwright::synth
