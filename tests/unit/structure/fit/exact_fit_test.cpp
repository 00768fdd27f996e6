// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/fit/exact_fit.hpp>
#include <heapwright/structure/fit/sequential_fits.hpp>

#include <support/block_shelf.hpp>

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace heapwright::testing {
namespace {

using Fit = ExactFit<4, BestFit>; // lists for 32, 48, 64 and 80 bytes

TEST(ExactFit, KeepsEachSizeInItsOrder) {
    BlockShelf shelf(3);
    Fit fit;
    Block* const first = shelf.at(2, 48);
    Block* const other = shelf.at(1, 64);
    Block* const second = shelf.at(0, 48);
    fit.add(first);
    fit.add(other);
    fit.add(second);
    EXPECT_EQ(fit.takeFit(48), first);
    EXPECT_EQ(fit.takeFit(48), second);
    EXPECT_EQ(fit.takeFit(48), other) << "the next list upward";
    EXPECT_EQ(fit.takeFit(48), nullptr);
}

TEST(ExactFit, UsesTheOtherFitAfterItsLists) {
    BlockShelf shelf(4);
    Fit fit;
    Block* const large = shelf.at(0, 4096);
    Block* const beyond = shelf.at(1, 96);
    Block* const largest = shelf.at(2, 80);
    for (Block* const block : {large, beyond, largest}) {
        fit.add(block);
    }
    EXPECT_EQ(fit.takeFit(32), largest);
    EXPECT_EQ(fit.takeFit(32), beyond);
    EXPECT_EQ(fit.takeFit(112), large);
}

TEST(ExactFit, IsBestFitIfTheOtherFitIsBestFit) {
    constexpr std::size_t count = 100;
    BlockShelf shelf(count);
    Fit fit;
    std::multiset<std::size_t> model;
    std::vector<std::size_t> places;
    std::map<Block*, std::size_t> placeOf;
    for (std::size_t place = 0; place < count; ++place) {
        places.push_back(place);
    }
    std::mt19937 random(4);
    for (int step = 0; step < 5000; ++step) {
        const std::size_t size = 32 + random() % 8 * 16;
        if (random() % 2 == 0 && !places.empty()) {
            Block* const block = shelf.at(places.back(), size);
            placeOf[block] = places.back();
            places.pop_back();
            fit.add(block);
            model.insert(size);
            continue;
        }
        Block* const found = fit.takeFit(size);
        const auto best = model.lower_bound(size);
        ASSERT_EQ(found == nullptr, best == model.end());
        if (found != nullptr) {
            ASSERT_EQ(found->size(), *best);
            model.erase(best);
            places.push_back(placeOf.at(found));
        }
    }
}

} // namespace
} // namespace heapwright::testing
