// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/fit/fit_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace heapwright::testing {
namespace {

struct Node {
    Node* left;
    Node* right;
    std::size_t bytes;

    [[nodiscard]] std::size_t size() const noexcept { return bytes; }
};
struct Sizeless {
    Sizeless* left;
    Sizeless* right;
};
static_assert(FitTreeNode<Node> && !FitTreeNode<Sizeless>);

using Key = std::pair<std::size_t, Node*>;

std::size_t depthOf(const Node* node) {
    return node == nullptr ? 0 : 1 + std::max(depthOf(node->left), depthOf(node->right));
}

void collect(const Node* node, std::vector<const Node*>& nodes) {
    if (node != nullptr) {
        collect(node->left, nodes);
        nodes.push_back(node);
        collect(node->right, nodes);
    }
}

TEST(FitTree, IsEmptyAtFirst) {
    constinit static FitTree<Node> tree;
    EXPECT_TRUE(tree.empty());
    EXPECT_EQ(tree.root(), nullptr);
    EXPECT_EQ(tree.bestFit(0), nullptr);
    EXPECT_EQ(tree.largest(), nullptr);
}

TEST(FitTree, GivesTheSmallestThatIsLargeEnough) {
    std::vector<Node> nodes(5);
    const std::vector<std::size_t> sizes = {64, 16, 48, 48, 160};
    FitTree<Node> tree;
    for (const std::size_t i : {3U, 0U, 4U, 2U, 1U}) {
        nodes[i].bytes = sizes[i];
        tree.insert(&nodes[i]);
    }
    EXPECT_EQ(tree.bestFit(0), &nodes[1]);
    EXPECT_EQ(tree.bestFit(17), &nodes[2]) << "of two equal ones the lower";
    EXPECT_EQ(tree.bestFit(49), &nodes[0]);
    EXPECT_EQ(tree.bestFit(65), &nodes[4]);
    EXPECT_EQ(tree.bestFit(161), nullptr);
    EXPECT_EQ(tree.largest(), &nodes[4]);
    tree.remove(&nodes[2]);
    EXPECT_EQ(tree.bestFit(17), &nodes[3]);
    tree.clear();
    EXPECT_TRUE(tree.empty());
}

TEST(FitTree, AgreesWithASortedSetOverRandomHistories) {
    for (const unsigned seed : {1U, 2U, 3U}) {
        std::mt19937 random(seed);
        std::vector<Node> nodes(500);
        std::vector<bool> inside(nodes.size());
        FitTree<Node> tree;
        std::set<Key> model;
        for (int step = 0; step < 20'000; ++step) {
            const std::size_t i = random() % nodes.size();
            if (inside[i]) {
                tree.remove(&nodes[i]);
                model.erase({nodes[i].bytes, &nodes[i]});
            } else {
                nodes[i].bytes = random() % 64;
                tree.insert(&nodes[i]);
                model.emplace(nodes[i].bytes, &nodes[i]);
            }
            inside[i] = !inside[i];
            const std::size_t wanted = random() % 70;
            const auto best = model.lower_bound({wanted, nullptr});
            ASSERT_EQ(tree.bestFit(wanted), best == model.end() ? nullptr : best->second)
                << "seed " << seed << ", step " << step;
            ASSERT_EQ(tree.largest(), model.empty() ? nullptr : model.rbegin()->second);
            ASSERT_EQ(tree.empty(), model.empty());
        }
        std::vector<const Node*> inOrder;
        collect(tree.root(), inOrder);
        ASSERT_EQ(inOrder.size(), model.size());
        EXPECT_TRUE(
            std::equal(inOrder.begin(), inOrder.end(), model.begin(),
                       [](const Node* node, const Key& key) { return node == key.second; }));
    }
}

/// Sizes and addresses that come in order would make a list of a tree without priorities.
TEST(FitTree, StaysFlatInAnyOrder) {
    std::vector<Node> nodes(1U << 14U);
    for (const std::size_t same : {1U, 0U}) {
        FitTree<Node> tree;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            nodes[i].bytes = same != 0 ? 16 : i;
            tree.insert(&nodes[i]);
        }
        EXPECT_LT(depthOf(tree.root()), 70U) << "14 would be perfect";
        while (!tree.empty()) {
            tree.remove(tree.root());
        }
    }
}

} // namespace
} // namespace heapwright::testing
