// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/fit/exact_fit.hpp>
#include <heapwright/structure/fit/size_tries.hpp>

#include <support/block_shelf.hpp>
#include <support/fit_history.hpp>

#include <gtest/gtest.h>

#include <set>

namespace heapwright::testing {
namespace {

TEST(SizeTries, KeepsNoneOfTheSmallestBlocks) {
    EXPECT_FALSE(FitPolicy<SizeTries>);
    EXPECT_TRUE((FitFrom<SizeTries, 64>));
    EXPECT_TRUE((FitPolicy<ExactFit<2, SizeTries>>));
}

TEST(SizeTries, ServesTheSmallestThatFitsAndOfEqualsTheOneThatHasWaited) {
    BlockShelf shelf(5);
    SizeTries tries;
    Block* const large = shelf.at(0, 4096);
    Block* const first = shelf.at(3, 144);
    Block* const second = shelf.at(2, 144);
    Block* const third = shelf.at(4, 144);
    Block* const small = shelf.at(1, 64);
    for (Block* const block : {large, first, second, third, small}) {
        tries.add(block);
    }
    EXPECT_EQ(tries.takeFit(128), second) << "the first is the one in the trie";
    EXPECT_EQ(tries.takeFit(128), third);
    EXPECT_EQ(tries.takeFit(128), first);
    EXPECT_EQ(tries.takeFit(128), large);
    EXPECT_EQ(tries.takeFit(128), nullptr);
    EXPECT_EQ(tries.takeFit(48), small);
    EXPECT_EQ(tries.takeFit(32), nullptr);
}

/// Larger than what has a trie of its own, up to the largest block there can be.
TEST(SizeTries, ServesBlocksOfTerabytes) {
    constexpr std::size_t terabyte = std::size_t{1} << 40U;
    BlockShelf shelf(40);
    SizeTries tries;
    for (std::size_t place = 0; place < 40; ++place) {
        tries.add(shelf.at(place, (place * 7 % 40 + 1) * terabyte));
    }
    for (std::size_t size = 1; size <= 40; ++size) {
        Block* const found = tries.takeFit(size * terabyte - 16);
        ASSERT_NE(found, nullptr);
        EXPECT_EQ(found->size(), size * terabyte);
    }
    EXPECT_EQ(tries.takeFit(64), nullptr);
}

TEST(SizeTries, AgreesWithAnOrderedSetOfSizes) {
    for (const std::uint32_t seed : {1U, 2U, 3U, 4U}) {
        BlockShelf shelf(500);
        SizeTries tries;
        const std::size_t sizes = seed % 2 == 0 ? 5 : 3000; // many equal ones, or hardly any
        const auto model = runFitHistory<std::multiset<std::size_t>>(
            tries, shelf, seed, 64, sizes, [](std::size_t size, Block*) { return size; });
        std::set<Block*> left;
        tries.forEach([&](Block* block) { EXPECT_TRUE(left.insert(block).second); });
        EXPECT_EQ(left.size(), model.size());
    }
}

} // namespace
} // namespace heapwright::testing
