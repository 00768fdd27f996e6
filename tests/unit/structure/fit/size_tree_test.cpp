// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/fit/size_tree.hpp>

#include <support/block_shelf.hpp>
#include <support/fit_history.hpp>

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>
#include <vector>

namespace heapwright::testing {
namespace {

TEST(SizeTree, ServesTheSmallestThatFitsAndOfEqualsTheLowest) {
    BlockShelf shelf(4);
    SizeTree tree;
    Block* const large = shelf.at(0, 4096);
    Block* const higher = shelf.at(3, 128);
    Block* const lower = shelf.at(2, 128);
    Block* const small = shelf.at(1, 32);
    for (Block* const block : {large, higher, lower, small}) {
        tree.add(block);
    }
    EXPECT_EQ(tree.takeFit(112), lower);
    EXPECT_EQ(tree.takeFit(112), higher);
    EXPECT_EQ(tree.takeFit(112), large);
    EXPECT_EQ(tree.takeFit(112), nullptr);
    EXPECT_EQ(tree.takeFit(32), small);
    EXPECT_EQ(tree.takeFit(32), nullptr);
}

TEST(SizeTree, AgreesWithAnOrderedSet) {
    for (const std::uint32_t seed : {1U, 2U, 3U, 4U}) {
        BlockShelf shelf(500);
        SizeTree tree;
        const std::size_t sizes = seed % 2 == 0 ? 3 : 1000; // many equal ones, or hardly any
        const auto model = runFitHistory<std::set<std::pair<std::size_t, Block*>>>(
            tree, shelf, seed, 32, sizes,
            [](std::size_t size, Block* block) { return std::pair(size, block); });
        std::vector<Block*> inOrder;
        tree.forEach([&](Block* block) { inOrder.push_back(block); });
        ASSERT_EQ(inOrder.size(), model.size());
        std::size_t index = 0;
        for (const auto& [size, block] : model) {
            ASSERT_EQ(inOrder[index++], block);
        }
        for (const auto& [size, block] : model) { // and it is the same tree after the walk
            ASSERT_EQ(tree.takeFit(32), block);
        }
        EXPECT_EQ(tree.takeFit(32), nullptr);
    }
}

/// With sorted insertions, a tree that does not balance itself is a list. Nothing here may need a
/// stack as deep, nor take time in the square.
TEST(SizeTree, StaysBalancedAfterSortedInsertions) {
    constexpr std::size_t count = 300'000;
    BlockShelf shelf(count);
    SizeTree tree;
    for (std::size_t place = 0; place < count; ++place) {
        tree.add(shelf.at(place, 32 + place * 16));
    }
    std::size_t seen = 0;
    tree.forEach([&](Block* block) { EXPECT_EQ(block->size(), 32 + 16 * seen++); });
    EXPECT_EQ(seen, count);
    std::mt19937 random(6);
    for (int step = 0; step < 100'000; ++step) {
        const std::size_t size = 32 + random() % count * 16;
        Block* const found = tree.takeFit(size);
        ASSERT_NE(found, nullptr);
        ASSERT_EQ(found->size(), size);
        tree.add(found);
    }
}

} // namespace
} // namespace heapwright::testing
