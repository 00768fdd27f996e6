// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/list/best_fit_tree.hpp>

#include <support/dictionary_model.hpp>

#include <gtest/gtest.h>

namespace heapwright::testing {
namespace {

TEST(BestFitTree, AgreesWithTheModel) {
    expectAModelDictionary<BestFitTree>();
}

TEST(BestFitTree, GivesTheSmallestThatIsLargeEnoughAndOfEqualsTheLowest) {
    ObjectPool pool(4);
    BestFitTree tree;
    tree.insert(pool.at(3), 40);
    tree.insert(pool.at(1), 40);
    tree.insert(pool.at(2), 64);
    tree.insert(pool.at(0), 24);
    EXPECT_EQ(tree.take(25), pool.at(1));
    EXPECT_EQ(tree.take(25), pool.at(3));
    EXPECT_EQ(tree.take(25), pool.at(2));
    EXPECT_EQ(tree.take(25), nullptr);
    EXPECT_EQ(tree.take(1), pool.at(0));
}

TEST(BestFitTree, NeedsThreeWords) {
    EXPECT_EQ(BestFitTree::leastObject, 24U);
    EXPECT_TRUE(BestFitTree::bySize);
}

} // namespace
} // namespace heapwright::testing
