// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/fit/sequential_fits.hpp>

#include <support/block_shelf.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace heapwright::testing {
namespace {

std::vector<std::size_t> sizesIn(auto& list) {
    std::vector<std::size_t> sizes;
    list.forEach([&](Block* block) { sizes.push_back(block->size()); });
    return sizes;
}

TEST(FirstFit, ServesTheFirstByAddressOfAnySizeAndAge) {
    BlockShelf shelf(4);
    FirstFit fit;
    Block* const third = shelf.at(2, 64);
    Block* const first = shelf.at(0, 48);
    Block* const last = shelf.at(3, 4096);
    Block* const second = shelf.at(1, 1024);
    for (Block* const block : {third, first, last, second}) {
        fit.add(block);
    }
    EXPECT_EQ(sizesIn(fit), (std::vector<std::size_t>{48, 1024, 64, 4096}));
    EXPECT_EQ(fit.takeFit(64), second) << "not the third, which fits exactly";
    EXPECT_EQ(fit.takeFit(64), third);
    EXPECT_EQ(fit.takeFit(32), first);
    EXPECT_EQ(fit.takeFit(8192), nullptr);
    EXPECT_EQ(fit.takeFit(4096), last);
}

TEST(NextFit, GoesOnWhereItStoppedAndRoundTheEnd) {
    BlockShelf shelf(4);
    NextFit fit;
    Block* blocks[4];
    for (std::size_t place = 0; place < 4; ++place) {
        blocks[place] = shelf.at(place, 96);
        fit.add(blocks[place]);
    }
    EXPECT_EQ(fit.takeFit(96), blocks[0]);
    EXPECT_EQ(fit.takeFit(96), blocks[1]);
    fit.add(blocks[0]); // behind the rover: not before its turn
    EXPECT_EQ(fit.takeFit(96), blocks[2]);
    EXPECT_EQ(fit.takeFit(96), blocks[3]);
    EXPECT_EQ(fit.takeFit(96), blocks[0]);
    EXPECT_EQ(fit.takeFit(96), nullptr);
}

TEST(NextFit, BeginsWithTheRestOfTheLastBlock) {
    BlockShelf shelf(3);
    NextFit fit;
    Block* const first = shelf.at(0, 1024);
    Block* const last = shelf.at(2, 1024);
    fit.add(first);
    fit.add(last);
    EXPECT_EQ(fit.takeFit(512), first);
    Block* const rest = shelf.at(1, 512);
    fit.add(rest);
    EXPECT_EQ(fit.takeFit(256), rest);
    EXPECT_EQ(fit.takeFit(256), last);
}

TEST(BestFit, ServesTheSmallestThatFitsAndOfEqualsTheNewest) {
    BlockShelf shelf(5);
    BestFit fit;
    Block* const large = shelf.at(0, 4096);
    Block* const small = shelf.at(1, 32);
    Block* const middle = shelf.at(2, 512);
    Block* const older = shelf.at(3, 128);
    Block* const newer = shelf.at(4, 128);
    for (Block* const block : {large, small, middle, older, newer}) {
        fit.add(block);
    }
    EXPECT_EQ(sizesIn(fit), (std::vector<std::size_t>{32, 128, 128, 512, 4096}));
    EXPECT_EQ(fit.takeFit(112), newer);
    EXPECT_EQ(fit.takeFit(112), older);
    EXPECT_EQ(fit.takeFit(112), middle);
    EXPECT_EQ(fit.takeFit(8192), nullptr);
    EXPECT_EQ(fit.takeFit(32), small);
    EXPECT_EQ(fit.takeFit(32), large);
}

/// The three against a map from address to size that is searched as the books say.
class Model {
public:
    void add(Block* block) { blocks_[block] = block->size(); }
    void remove(Block* block) { blocks_.erase(block); }

    Block* first(std::size_t size) const {
        for (const auto& [block, have] : blocks_) {
            if (have >= size) {
                return block;
            }
        }
        return nullptr;
    }
    Block* next(std::size_t size, const Block* stopped) const {
        for (const auto& [block, have] : blocks_) {
            if (block > stopped && have >= size) {
                return block;
            }
        }
        return first(size);
    }
    std::size_t least(std::size_t size) const {
        std::size_t least = SIZE_MAX;
        for (const auto& [block, have] : blocks_) {
            least = have >= size && have < least ? have : least;
        }
        return least;
    }

private:
    std::map<Block*, std::size_t> blocks_;
};

/// Adds, takes and removes at random, with `check` given what the fit took and the model.
template <class Fit, class Check>
void runAgainstModel(std::uint32_t seed, Check check) {
    constexpr std::size_t count = 200;
    BlockShelf shelf(count);
    std::vector<Block*> in(count, nullptr); // the free block of each place
    Fit fit;
    Model model;
    std::mt19937 random(seed);
    for (int step = 0; step < 8000; ++step) {
        const std::size_t place = random() % count;
        const std::size_t size = 32 + random() % 60 * 16;
        if (random() % 2 == 0) {
            Block* const found = fit.takeFit(size);
            check(found, size, model);
            if (found != nullptr) {
                model.remove(found);
                for (Block*& block : in) {
                    block = block == found ? nullptr : block;
                }
            }
        } else if (in[place] == nullptr) {
            in[place] = shelf.at(place, size);
            fit.add(in[place]);
            model.add(in[place]);
        } else if (random() % 4 == 0) {
            fit.remove(in[place]);
            model.remove(in[place]);
            in[place] = nullptr;
        }
        if (::testing::Test::HasFatalFailure()) {
            return;
        }
    }
}

TEST(FirstFit, AgreesWithTheModel) {
    runAgainstModel<FirstFit>(1, [](Block* found, std::size_t size, const Model& model) {
        ASSERT_EQ(found, model.first(size));
    });
}

TEST(NextFit, AgreesWithTheModel) {
    Block* stopped = nullptr;
    runAgainstModel<NextFit>(2, [&](Block* found, std::size_t size, const Model& model) {
        ASSERT_EQ(found, model.next(size, stopped));
        stopped = found != nullptr ? found : stopped;
    });
}

TEST(BestFit, AgreesWithTheModel) {
    runAgainstModel<BestFit>(3, [](Block* found, std::size_t size, const Model& model) {
        ASSERT_EQ(found == nullptr ? SIZE_MAX : found->size(), model.least(size));
    });
}

TEST(NextFit, BeginsAtTheStartAgainWhenItIsCleared) {
    BlockShelf shelf(2);
    NextFit fit;
    fit.add(shelf.at(0, 64));
    EXPECT_NE(fit.takeFit(64), nullptr);
    fit.clear();
    Block* const first = shelf.at(0, 64);
    fit.add(first);
    fit.add(shelf.at(1, 64));
    EXPECT_EQ(fit.takeFit(64), first);
}

} // namespace
} // namespace heapwright::testing
