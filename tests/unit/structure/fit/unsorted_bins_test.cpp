// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/fit/unsorted_bins.hpp>

#include <support/block_shelf.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(UnsortedBins, ServesAnExactUnsortedBlockFirst) {
    BlockShelf shelf(4);
    UnsortedBins bins;
    Block* const sorted = shelf.at(0, 96);
    bins.add(sorted);
    EXPECT_EQ(bins.takeFit(112), nullptr) << "which sorts it";
    Block* const large = shelf.at(1, 4096);
    Block* const fresh = shelf.at(2, 96);
    Block* const behind = shelf.at(3, 64);
    for (Block* const block : {large, fresh, behind}) {
        bins.add(block);
    }
    EXPECT_EQ(bins.takeFit(96), fresh) << "the large one is sorted on the way, the last is not";
    EXPECT_EQ(bins.takeFit(64), behind);
    EXPECT_EQ(bins.takeFit(64), sorted) << "the best of what is sorted";
    EXPECT_EQ(bins.takeFit(64), large);
    EXPECT_EQ(bins.takeFit(32), nullptr);
}

TEST(UnsortedBins, RemovesSortedAndUnsortedBlocks) {
    BlockShelf shelf(2);
    UnsortedBins bins;
    Block* const sorted = shelf.at(0, 2048);
    Block* const unsorted = shelf.at(1, 2048);
    bins.add(sorted);
    EXPECT_EQ(bins.takeFit(4096), nullptr);
    bins.add(unsorted);
    bins.remove(sorted);
    bins.remove(unsorted);
    EXPECT_EQ(bins.takeFit(32), nullptr);
}

} // namespace
} // namespace heapwright::testing
