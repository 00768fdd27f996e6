// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/map/address_map.hpp>

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <random>

namespace heapwright::testing {
namespace {

using Map = AddressMap<int>;

Map::Entry* add(Map& map, Address start, std::size_t size, int value = 0) {
    Map::Entry* const entry = map.reserve();
    if (entry != nullptr) {
        entry->value = value;
        map.insert(entry, start, size);
    }
    return entry;
}

TEST(AddressMap, IsEmptyAtFirst) {
    const Map map;
    EXPECT_EQ(map.count(), 0U);
    EXPECT_EQ(map.find(0), nullptr);
    EXPECT_EQ(map.overlapping(0, ~std::size_t{0}), nullptr);
    EXPECT_EQ(map.atOrAfter(0), nullptr);
}

TEST(AddressMap, FindsARangeByItsStartAlone) {
    Map map;
    Map::Entry* const entry = add(map, 1000, 24, 7);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(map.find(1000), entry);
    EXPECT_EQ(map.find(1001), nullptr);
    EXPECT_EQ(entry->value, 7);
    EXPECT_EQ(entry->end(), 1024U);
}

TEST(AddressMap, FindsOverlapsToTheByte) {
    Map map;
    Map::Entry* const entry = add(map, 1000, 24);
    EXPECT_EQ(map.overlapping(999, 1), nullptr);
    EXPECT_EQ(map.overlapping(999, 2), entry);
    EXPECT_EQ(map.overlapping(1023, 1), entry);
    EXPECT_EQ(map.overlapping(1024, 100), nullptr);
    EXPECT_EQ(map.overlapping(0, 5000), entry) << "around it";
    EXPECT_EQ(map.overlapping(1010, 0), entry) << "an empty range counts as one byte";
}

TEST(AddressMap, AnEmptyRangeCountsAsOneByte) {
    Map map;
    Map::Entry* const entry = add(map, 1000, 0);
    EXPECT_EQ(map.overlapping(1000, 1), entry);
    EXPECT_EQ(map.overlapping(1001, 1), nullptr);
}

TEST(AddressMap, WalksInOrder) {
    Map map;
    for (const Address start : {500U, 100U, 900U, 300U, 700U}) {
        add(map, start, 10);
    }
    Address expected = 100;
    for (const auto* e = map.atOrAfter(0); e != nullptr; e = map.atOrAfter(e->start + 1)) {
        EXPECT_EQ(e->start, expected);
        expected += 200;
    }
    EXPECT_EQ(expected, 1100U);
}

TEST(AddressMap, UsesEntriesAgain) {
    Map map;
    Map::Entry* const entry = add(map, 1000, 24);
    map.remove(entry);
    map.release(entry);
    EXPECT_EQ(map.count(), 0U);
    EXPECT_EQ(map.reserve(), entry);
}

TEST(AddressMap, StartsAfreshAfterClear) {
    Map map;
    for (Address start = 0; start < 1'000'000; start += 16) {
        add(map, start, 16);
    }
    map.clear();
    EXPECT_EQ(map.count(), 0U);
    EXPECT_EQ(map.find(16), nullptr);
    EXPECT_NE(add(map, 16, 16), nullptr);
    EXPECT_NE(map.find(16), nullptr);
}

TEST(AddressMap, AgreesWithAModelOverRandomHistories) {
    for (const unsigned seed : {1U, 2U, 3U}) {
        Map map;
        std::map<Address, std::size_t> model;
        std::mt19937 random(seed);
        for (int step = 0; step < 30'000; ++step) {
            const Address start = random() % 100'000;
            const std::size_t size = 1 + random() % 40;
            const auto after = model.lower_bound(start + size);
            const bool free = after == model.begin() ||
                              std::prev(after)->first + std::prev(after)->second <= start;
            Map::Entry* const there = map.overlapping(start, size);
            ASSERT_EQ(there == nullptr, free) << "seed " << seed << ", step " << step;
            if (free) {
                ASSERT_NE(add(map, start, size), nullptr);
                model[start] = size;
            } else {
                ASSERT_EQ(model.at(there->start), there->size);
                model.erase(there->start);
                map.remove(there);
                map.release(there);
            }
            ASSERT_EQ(map.count(), model.size());
        }
        for (const auto& [start, size] : model) {
            ASSERT_NE(map.find(start), nullptr);
        }
    }
}

} // namespace
} // namespace heapwright::testing
