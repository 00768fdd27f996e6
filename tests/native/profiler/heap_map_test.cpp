// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The picture of the address space: holes where nothing is live, for any extent and length.
#include <gtest/gtest.h>
#include <random>

#include "profiler/heap_map.hpp"
#include "scene.hpp"

namespace heapwright::profiler {
namespace {

std::string drawn(HeapMap& map, std::uint64_t time) {
    map.finish(time);
    Json json;
    map.write(json);
    return json.text();
}

TEST(HeapMapCells, AreTheLiveShareOfTheirPages) {
    HeapMap map(0, 0);
    map.began(0x10000, 4096);
    map.began(0x12000, 1024);
    map.advance(1500);
    map.ended(0x10000, 4096);
    const std::string text = drawn(map, 1700);
    EXPECT_TRUE(begins(text, "[1e-06,1.7e-06]", "times_s"));
    EXPECT_TRUE(begins(text, "[{\"start\":65536,\"bytes\":4096},{\"start\":73728,\"bytes\":4096}]",
                       "rows"));
    EXPECT_TRUE(begins(text, "[[1,0],[0.25,0.25]]", "cells")) << text;
}

TEST(HeapMapCells, ABlockLiesInAllItsPages) {
    HeapMap map(0, 0);
    map.began(0x10800, 4096);
    map.began(0x100000, 100'000); // a large one
    const std::string text = drawn(map, 1);
    EXPECT_TRUE(begins(text, "[[0.5],[0.5],[1],[1],", "cells")) << text;
    EXPECT_NE(text.find("[0.414]]"), std::string::npos) << "what is left of 100,000 bytes";
}

TEST(HeapMapCells, AreFewForAnyExtent) {
    HeapMap map(0, 0);
    std::mt19937_64 random(3);
    std::vector<std::uint64_t> places;
    for (int block = 0; block < 20'000; ++block) {
        places.push_back((random() % (std::uint64_t{1} << 40)) & ~std::uint64_t{0xFFFF});
        map.began(places.back(), 60'000);
        map.advance(static_cast<std::uint64_t>(block) * 1000);
    }
    map.began(std::uint64_t{1} << 41, std::uint64_t{1} << 45);
    map.advance(200'000'000);
    for (const std::uint64_t place : places)
        map.ended(place, 60'000);
    map.ended(std::uint64_t{1} << 41, std::uint64_t{1} << 45);
    const std::string text = drawn(map, 300'000'000);
    std::size_t rows = 0;
    for (std::size_t at = text.find("start"); at != std::string::npos;
         at = text.find("start", at + 1))
        ++rows;
    EXPECT_GE(rows, 50U);
    EXPECT_LE(rows, 200U);
    EXPECT_EQ(text.find(",0]]"), text.size() - 5) << "nothing is live at the end";
}

TEST(HeapMapCells, AbsurdBlocksDoNoHarm) {
    HeapMap map(0, UINT64_MAX);
    map.began(UINT64_MAX - 5, 100);
    map.began(0x1000, UINT64_MAX);
    map.began(UINT64_MAX, UINT64_MAX);
    map.advance(UINT64_MAX / 2);
    map.ended(0x1000, UINT64_MAX);
    map.ended(UINT64_MAX - 5, 100);
    EXPECT_FALSE(drawn(map, UINT64_MAX).empty());
}

} // namespace
} // namespace heapwright::profiler
