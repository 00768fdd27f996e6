// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/fit/exact_fit.hpp>
#include <heapwright/structure/fit/fit_bins.hpp>
#include <heapwright/structure/fit/fit_policy.hpp>
#include <heapwright/structure/fit/sequential_fits.hpp>
#include <heapwright/structure/fit/size_tree.hpp>
#include <heapwright/structure/fit/size_tries.hpp>
#include <heapwright/structure/fit/unsorted_bins.hpp>

#include <support/block_shelf.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace heapwright::testing {
namespace {

// What every fit must do, whichever block it prefers.
template <class Fit>
class FitPolicyTest : public ::testing::Test {
protected:
    static std::set<Block*> seen(Fit& fit) {
        std::set<Block*> blocks;
        fit.forEach([&](Block* block) { EXPECT_TRUE(blocks.insert(block).second); });
        return blocks;
    }
};

using Fits = ::testing::Types<FitBins, FirstFit, NextFit, BestFit, ExactFit<5, FirstFit>,
                              ExactFit<127, BestFit>, ExactFit<1, SizeTree>, SizeTree,
                              ExactFit<2, SizeTries>, ExactFit<14, SizeTries>, UnsortedBins>;
TYPED_TEST_SUITE(FitPolicyTest, Fits);

TYPED_TEST(FitPolicyTest, IsAFitAndEmptyAtFirst) {
    static_assert(FitPolicy<TypeParam>);
    TypeParam fit;
    EXPECT_EQ(fit.takeFit(32), nullptr);
    EXPECT_TRUE(this->seen(fit).empty());
}

TYPED_TEST(FitPolicyTest, ClearRemovesAllBlocks) {
    BlockShelf shelf(4);
    TypeParam fit;
    for (const std::size_t place : {0U, 1U, 2U, 3U}) {
        fit.add(shelf.at(place, 48 + place * 4096));
    }
    fit.clear();
    EXPECT_EQ(fit.takeFit(32), nullptr);
    EXPECT_TRUE(this->seen(fit).empty());
    Block* const block = shelf.at(2, 96);
    fit.add(block);
    EXPECT_EQ(fit.takeFit(80), block);
    EXPECT_EQ(fit.takeFit(80), nullptr);
}

TYPED_TEST(FitPolicyTest, ForEachChangesNothing) {
    constexpr std::size_t count = 300;
    BlockShelf shelf(count);
    TypeParam fit;
    std::set<Block*> model;
    for (std::size_t place = 0; place < count; ++place) {
        model.insert(shelf.at(place, 32 + place * 48));
        fit.add(shelf.at(place, 32 + place * 48));
    }
    EXPECT_EQ(this->seen(fit), model);
    EXPECT_EQ(this->seen(fit), model) << "looking changes nothing";
    while (!model.empty()) {
        Block* const block = fit.takeFit(32);
        ASSERT_EQ(model.erase(block), 1U);
    }
    EXPECT_EQ(fit.takeFit(32), nullptr);
}

TYPED_TEST(FitPolicyTest, ServesFittingBlocksOnceEach) {
    constexpr std::size_t count = 400;
    for (const std::uint32_t seed : {1U, 2U, 3U}) {
        BlockShelf shelf(count);
        TypeParam fit;
        std::mt19937 random(seed);
        std::vector<std::pair<std::size_t, Block*>> waiting; // with its place
        std::vector<std::size_t> places(count);
        for (std::size_t i = 0; i < count; ++i) {
            places[i] = i;
        }
        std::shuffle(places.begin(), places.end(), random);
        for (int step = 0; step < 6000; ++step) {
            const std::size_t size = 32 + random() % (random() % 2 == 0 ? 300U : 20U) * 16;
            const unsigned action = random() % 8;
            if (action < 4 && !places.empty()) {
                waiting.emplace_back(places.back(), shelf.at(places.back(), size));
                places.pop_back();
                fit.add(waiting.back().second);
            } else if (action == 4 && !waiting.empty()) {
                const std::size_t any = random() % waiting.size();
                fit.remove(waiting[any].second);
                places.push_back(waiting[any].first);
                waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(any));
            } else {
                Block* const found = fit.takeFit(size);
                const auto entry = std::find_if(waiting.begin(), waiting.end(),
                                                [&](auto& one) { return one.second == found; });
                if (found == nullptr) {
                    continue;
                }
                ASSERT_NE(entry, waiting.end()) << "seed " << seed << ", step " << step;
                ASSERT_GE(found->size(), size);
                places.push_back(entry->first);
                waiting.erase(entry);
            }
            std::shuffle(places.begin(), places.end(), random);
        }
        std::set<Block*> left;
        for (const auto& [place, block] : waiting) {
            left.insert(block);
        }
        EXPECT_EQ(this->seen(fit), left);
    }
}

} // namespace
} // namespace heapwright::testing
