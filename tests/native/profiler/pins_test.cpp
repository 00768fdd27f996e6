// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The pages of sites: single cases, and random blocks against a count that removes each site.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <vector>

#include "profiler/pins.hpp"

namespace heapwright::profiler {
namespace {

constexpr std::uint64_t page = PageCensus::pageSize;

Block block(std::uint64_t address, std::uint64_t size, std::uint32_t site) {
    Block made;
    made.address = address;
    made.size = size;
    made.site = site;
    return made;
}

TEST(PageCensus, AFewSmallObjectsPinAPage) {
    PageCensus census;
    census.add(0, block(10 * page, 16, 1));
    census.add(0, block(10 * page + 2000, 100, 1));
    const auto sites = census.count();
    EXPECT_EQ(sites.at(1).held, 1U);
    EXPECT_EQ(sites.at(1).pinned, 1U);
    EXPECT_EQ(sites.at(1).used, 116U);
}

TEST(PageCensus, APageOfTwoSitesIsOfNeither) {
    PageCensus census;
    census.add(0, block(10 * page, 16, 1));
    census.add(0, block(10 * page + 64, 16, 2));
    census.add(1, block(10 * page + 128, 16, 3)); // another process: another page
    const auto sites = census.count();
    EXPECT_FALSE(sites.contains(1));
    EXPECT_FALSE(sites.contains(2));
    EXPECT_EQ(sites.at(3).pinned, 1U);
}

TEST(PageCensus, AWellUsedPageIsHeldAndNotPinned) {
    PageCensus census;
    census.add(0, block(10 * page, PageCensus::mostUsed + 1, 1));
    census.add(0, block(20 * page + 100, 5 * page, 2));
    const auto sites = census.count();
    EXPECT_EQ(sites.at(1).held, 1U);
    EXPECT_EQ(sites.at(1).pinned, 0U);
    EXPECT_EQ(sites.at(2).held, 6U) << "with its first and its last page";
    EXPECT_EQ(sites.at(2).pinned, 1U) << "the last has 100 bytes";
    EXPECT_EQ(sites.at(2).used, 100U);
}

TEST(PageCensus, SlackIsInUseAndABlockOfNoBytesHasAPage) {
    PageCensus census;
    Block padded = block(10 * page, 1000, 1);
    padded.slack = 100;
    census.add(0, padded);
    census.add(0, block(30 * page, 0, 2));
    const auto sites = census.count();
    EXPECT_EQ(sites.at(1).pinned, 0U);
    EXPECT_EQ(sites.at(2).pinned, 1U);
}

TEST(PageCensus, AnEndBeyondAllAddressesIsNoCrash) {
    PageCensus census;
    census.add(0, block(UINT64_MAX - 10, UINT64_MAX, 1));
    EXPECT_EQ(census.count().at(1).held, 1U);
}

class RandomBlocks : public testing::TestWithParam<unsigned> {};

TEST_P(RandomBlocks, HaveThePagesThatAreEmptyWithoutASite) {
    std::mt19937_64 random(GetParam());
    std::vector<Block> blocks;
    std::uint64_t address = 100 * page;
    for (int count = 0; count < 500; ++count) {
        address += 16 * (random() % 200);
        const std::uint64_t size = random() % 10 == 0 ? random() % 20'000 : random() % 300;
        blocks.push_back(block(address, size, static_cast<std::uint32_t>(random() % 6)));
        address += (size + 16) / 16 * 16;
    }
    PageCensus census;
    for (const Block& each : blocks)
        census.add(0, each);
    const auto found = census.count();

    std::map<std::uint64_t, std::map<std::uint32_t, std::uint64_t>> pages; // bytes by site
    for (const Block& each : blocks)
        for (std::uint64_t byte = 0; byte < std::max<std::uint64_t>(each.size, 1); ++byte)
            ++pages[(each.address + byte) / page][each.site];
    for (std::uint32_t site = 0; site < 6; ++site) {
        Pins expected;
        for (const auto& [number, sites] : pages) {
            if (sites.size() != 1 || !sites.contains(site))
                continue;
            ++expected.held;
            if (sites.at(site) <= PageCensus::mostUsed) {
                ++expected.pinned;
                expected.used += sites.at(site);
            }
        }
        const Pins pins = found.contains(site) ? found.at(site) : Pins{};
        EXPECT_EQ(pins.held, expected.held) << site;
        EXPECT_EQ(pins.pinned, expected.pinned) << site;
        EXPECT_EQ(pins.used, expected.used) << site;
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomBlocks, testing::Range(1U, 9U));

} // namespace
} // namespace heapwright::profiler
