// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/fit/fit_bins.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <vector>

namespace heapwright::testing {
namespace {

/// Blocks that nothing of is used but their tags and links.
class FitBinsTest : public ::testing::Test {
protected:
    Block* block(std::size_t size) {
        places_.emplace_back();
        return Block::make(&places_.back(), size, State::free, Flag::binned);
    }

    FitBins bins_;

private:
    struct alignas(16) Place {
        unsigned char bytes[48];
    };
    std::deque<Place> places_;
};

TEST_F(FitBinsTest, HasNothingAtFirst) {
    EXPECT_EQ(bins_.takeFit(32), nullptr);
}

TEST_F(FitBinsTest, ServesTheSmallestSmallOneThatFits) {
    Block* const large = block(512);
    Block* const exact = block(96);
    bins_.add(large);
    bins_.add(exact);
    EXPECT_EQ(bins_.takeFit(112), large);
    EXPECT_EQ(bins_.takeFit(80), exact);
    EXPECT_EQ(bins_.takeFit(32), nullptr);
}

TEST_F(FitBinsTest, ServesEqualOnesInTheirOrder) {
    Block* const first = block(64);
    Block* const second = block(64);
    bins_.add(first);
    bins_.add(second);
    EXPECT_EQ(bins_.takeFit(64), first);
    EXPECT_EQ(bins_.takeFit(64), second);
}

TEST_F(FitBinsTest, PassesOverTheTooSmallOnesOfALargeBin) {
    Block* const tooSmall = block(4096);
    Block* const fits = block(4496);
    bins_.add(tooSmall);
    bins_.add(fits);
    EXPECT_EQ(bins_.takeFit(4400), fits);
    EXPECT_EQ(bins_.takeFit(4400), nullptr);
    EXPECT_EQ(bins_.takeFit(4096), tooSmall);
}

TEST_F(FitBinsTest, DropsRemovedBlocks) {
    Block* const only = block(2048);
    bins_.add(only);
    FitBins::remove(only);
    EXPECT_EQ(bins_.takeFit(32), nullptr);
    bins_.add(only);
    EXPECT_EQ(bins_.takeFit(2048), only);
}

TEST_F(FitBinsTest, NeverServesTooLittleAndAboutTheBest) {
    std::mt19937 random(11);
    std::vector<std::size_t> model;
    for (int step = 0; step < 3000; ++step) {
        const std::size_t size = 32 + random() % 4000 * 16;
        if (step % 2 == 0) {
            model.push_back(size);
            bins_.add(block(size));
            continue;
        }
        Block* const found = bins_.takeFit(size);
        const auto best = std::min_element(model.begin(), model.end(), [&](auto a, auto b) {
            return (a >= size ? a : ~std::size_t{0}) < (b >= size ? b : ~std::size_t{0});
        });
        const bool fits = best != model.end() && *best >= size;
        if (found ==
            nullptr) { // the first few of a bin may all be too small, but no more than that
            ASSERT_TRUE(!fits || *best < size + size / 8 + 16);
            continue;
        }
        ASSERT_GE(found->size(), size);
        ASSERT_LE(found->size(), *best + *best / 4) << "at most two bins from the best";
        model.erase(std::find(model.begin(), model.end(), found->size()));
    }
    std::size_t left = 0;
    bins_.forEach([&](Block*) { ++left; });
    EXPECT_EQ(left, model.size());
    bins_.clear();
    EXPECT_EQ(bins_.takeFit(32), nullptr);
}

} // namespace
} // namespace heapwright::testing
