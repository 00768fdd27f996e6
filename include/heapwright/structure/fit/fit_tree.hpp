// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A search tree whose nodes lie in the free memory that they describe, ordered by size and then by
// address. The first node that is large enough is thus the best fit, at the lowest address among
// equals.
//
// Invariant: a node's key lies between those of its subtrees, and no node has a higher priority
// than its parent. A priority is a hash of the address, so it needs no space. The tree depends only
// on its set of nodes, not on the order of insertions.
// Cost: expected O(log n) for each operation, no recursion.
// Source: treaps (Seidel and Aragon, Randomized search trees, 1996).
//
// `BestFitTree`, the dictionary of objects, uses it. A search writes nothing. The free blocks of
// vmalloc are in a splay tree (structure/fit/size_tree.hpp), as in the original.
#pragma once

#include <heapwright/core/address.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// The type of a node: two links, which belong to the tree, and a size.
/// Pre: the size does not change while the node is in the tree.
template <class N>
concept FitTreeNode = requires(N node, const N& still) {
    { node.left } -> std::same_as<N*&>;
    { node.right } -> std::same_as<N*&>;
    { still.size() } -> std::convertible_to<std::size_t>;
};

template <class Node>
class FitTree {
public:
    constexpr FitTree() noexcept = default;

    [[nodiscard]] bool empty() const noexcept { return root_ == nullptr; }
    /// Some node, as the start of a walk over all; null if the tree is empty.
    [[nodiscard]] Node* root() const noexcept { return root_; }

    /// The smallest node of at least `size` bytes, at the lowest address among equals; null if
    /// there is none.
    [[nodiscard]] Node* bestFit(std::size_t size) const noexcept {
        Node* found = nullptr;
        for (Node* node = root_; node != nullptr;) {
            if (node->size() >= size) {
                found = node;
                node = node->left;
            } else {
                node = node->right;
            }
        }
        return found;
    }

    /// The largest node, at the highest address among equals; null if there is none.
    [[nodiscard]] Node* largest() const noexcept {
        Node* node = root_;
        while (node != nullptr && node->right != nullptr) {
            node = node->right;
        }
        return node;
    }

    /// Pre: the node is in no tree.
    void insert(Node* node) noexcept
        requires FitTreeNode<Node>
    {
        const std::uint64_t priority = priorityOf(node);
        Node** link = &root_;
        while (*link != nullptr && priorityOf(*link) >= priority) {
            link = before(node, *link) ? &(*link)->left : &(*link)->right;
        }
        // Splits the subtree at this place by the node's key. Both halves become its subtrees.
        Node* rest = *link;
        *link = node;
        Node** smaller = &node->left;
        Node** greater = &node->right;
        while (rest != nullptr) {
            if (before(rest, node)) {
                *smaller = rest;
                smaller = &rest->right;
                rest = rest->right;
            } else {
                *greater = rest;
                greater = &rest->left;
                rest = rest->left;
            }
        }
        *smaller = *greater = nullptr;
    }

    /// Pre: the node is in this tree.
    void remove(Node* node) noexcept
        requires FitTreeNode<Node>
    {
        Node** link = &root_;
        while (*link != node) {
            link = before(node, *link) ? &(*link)->left : &(*link)->right;
        }
        // Merges its subtrees, from the top down.
        Node* smaller = node->left;
        Node* greater = node->right;
        while (smaller != nullptr && greater != nullptr) {
            if (priorityOf(smaller) >= priorityOf(greater)) {
                *link = smaller;
                link = &smaller->right;
                smaller = smaller->right;
            } else {
                *link = greater;
                link = &greater->left;
                greater = greater->left;
            }
        }
        *link = smaller != nullptr ? smaller : greater;
    }

    /// Removes all nodes.
    void clear() noexcept { root_ = nullptr; }

private:
    /// Whether `a` is before `b` in the order by size and address.
    static bool before(const Node* a, const Node* b) noexcept {
        const std::size_t sizeOfA = a->size();
        const std::size_t sizeOfB = b->size();
        return sizeOfA != sizeOfB ? sizeOfA < sizeOfB : addressOf(a) < addressOf(b);
    }

    /// The finaliser of SplitMix64 (Steele, Lea and Flood 2014), so that neighbours have unrelated
    /// priorities.
    static std::uint64_t priorityOf(const Node* node) noexcept {
        std::uint64_t mixed = addressOf(node);
        mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
        return mixed ^ (mixed >> 31U);
    }

    Node* root_ = nullptr;
};

} // namespace heapwright
