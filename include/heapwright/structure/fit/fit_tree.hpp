// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A search tree whose nodes stand in the free memory that they are for, ordered by size and, among
// equals, by address: the first node that is large enough is the best fit, and of several the one
// at the lowest address.
//
// Invariants: a node's keys lie between those of its subtrees; no node has a higher priority than
// its parent. A priority is a hash of the address, so it needs no room, and the tree of a set is
// always the same one, whatever the order in which it was built. Cost: expected O(log n) each, no
// recursion. A treap (Seidel and Aragon, Randomized search trees, 1996).
//
// It is the tree of `BestFitTree`, the dictionary of objects: a node brings its own size, and to
// look for one writes nothing. The free blocks of vmalloc are in a tree of their own
// (structure/fit/size_tree.hpp), which its author chose to be a splay tree.
#pragma once

#include <heapwright/core/address.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// What a node brings: two links, which belong to the tree, and its size, which must not change
/// while it is in the tree.
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
    /// Some node, to begin with where all are wanted; null if there is none.
    [[nodiscard]] Node* root() const noexcept { return root_; }

    /// The smallest node of at least `size` bytes, of equals the lowest; null if there is none.
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

    /// The largest node, of equals the highest; null if there is none.
    [[nodiscard]] Node* largest() const noexcept {
        Node* node = root_;
        while (node != nullptr && node->right != nullptr) {
            node = node->right;
        }
        return node;
    }

    /// Pre: the node is on no tree.
    void insert(Node* node) noexcept
        requires FitTreeNode<Node>
    {
        const std::uint64_t priority = priorityOf(node);
        Node** link = &root_;
        while (*link != nullptr && priorityOf(*link) >= priority) {
            link = before(node, *link) ? &(*link)->left : &(*link)->right;
        }
        // What hangs here is cut in two along the node's key; both halves go under it.
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

    /// Pre: the node is on this tree.
    void remove(Node* node) noexcept
        requires FitTreeNode<Node>
    {
        Node** link = &root_;
        while (*link != node) {
            link = before(node, *link) ? &(*link)->left : &(*link)->right;
        }
        // Its subtrees become one again, from the top down.
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

    /// Forgets all nodes.
    void clear() noexcept { root_ = nullptr; }

private:
    /// Whether `a` stands before `b` in the order by size and address.
    static bool before(const Node* a, const Node* b) noexcept {
        const std::size_t sizeOfA = a->size();
        const std::size_t sizeOfB = b->size();
        return sizeOfA != sizeOfB ? sizeOfA < sizeOfB : addressOf(a) < addressOf(b);
    }

    /// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): neighbours differ in all bits.
    static std::uint64_t priorityOf(const Node* node) noexcept {
        std::uint64_t mixed = addressOf(node);
        mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
        return mixed ^ (mixed >> 31U);
    }

    Node* root_ = nullptr;
};

} // namespace heapwright
