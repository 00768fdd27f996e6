// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// All free blocks in one splay tree by size, and then by address: the best fit, at the lowest
// address among equals. The tree balances itself by use. A search moves its result to the root and
// halves the path, so that frequent sizes are near the root.
//
// Invariant: a block's links are its subtrees, smaller ones to the left, and no two keys are equal.
// The smallest block has no room for a link to the parent, and needs none.
// Cost: logarithmic, amortised over any sequence of operations.
// Source: Sleator and Tarjan (JACM 32:3, 1985), in the top-down form. Vo's vmalloc uses it, which
// is why it exists beside the treap of structure/fit/fit_tree.hpp.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/structure/fit/block.hpp>

#include <cstddef>
#include <new>

namespace heapwright {

class SizeTree {
public:
    constexpr SizeTree() noexcept = default;

    void add(Block* block) noexcept {
        Node* const node = ::new (block->object()) Node{nullptr, nullptr};
        if (root_ != nullptr) {
            Node* const near = splay(root_, keyOf(node));
            if (keyOf(node) < keyOf(near)) {
                node->left = near->left;
                node->right = near;
                near->left = nullptr;
            } else {
                node->left = near;
                node->right = near->right;
                near->right = nullptr;
            }
        }
        root_ = node;
    }

    /// Pre: the block is in the tree.
    void remove(Block* block) noexcept {
        const Key key = keyOf(static_cast<Node*>(block->object()));
        root_ = splay(root_, key);
        removeRoot(key);
    }

    /// Removes and returns the smallest block of at least `size` bytes; null if there is none.
    [[nodiscard]] Block* takeFit(std::size_t size) noexcept {
        if (root_ == nullptr) {
            return nullptr;
        }
        const Key key{size, 0}; // equal to no block, so the root is its neighbour in the order
        root_ = splay(root_, key);
        if (keyOf(root_) < key) {
            if (root_->right == nullptr) {
                return nullptr;
            }
            Node* const least = splay(root_->right, key);
            root_->right = least->right;
            return Block::of(least);
        }
        Node* const fit = root_;
        removeRoot(key);
        return Block::of(fit);
    }

    /// Visits in the order of size. It first turns the tree into a list, so it needs no stack at
    /// any depth.
    template <class Visit>
    void forEach(Visit visit) noexcept {
        Node** link = &root_;
        while (*link != nullptr) {
            Node* const node = *link;
            if (Node* const left = node->left) {
                node->left = left->right;
                left->right = node;
                *link = left;
            } else {
                link = &node->right;
            }
        }
        for (Node* node = root_; node != nullptr;) {
            Node* const next = node->right;
            visit(Block::of(node));
            node = next;
        }
    }

    void clear() noexcept { root_ = nullptr; }

private:
    /// The tree node in the object of a free block.
    struct Node {
        Node* left;
        Node* right;
    };
    static_assert(sizeof(Node) <= sizeof(RingNode));

    struct Key {
        std::size_t size;
        Address address;

        friend bool operator<(const Key& one, const Key& other) noexcept {
            return one.size != other.size ? one.size < other.size : one.address < other.address;
        }
    };

    static Key keyOf(Node* node) noexcept { return {Block::of(node)->size(), addressOf(node)}; }

    /// Moves the node of this key to the root, or a neighbour of its place if there is none. The
    /// path down is split into the smaller nodes (`less`, extended at its right end) and the larger
    /// ones (`more`, at its left end). Both become subtrees of the result.
    static Node* splay(Node* node, Key key) noexcept {
        Node sides{nullptr, nullptr};
        Node* less = &sides;
        Node* more = &sides;
        for (;;) {
            if (key < keyOf(node)) {
                Node* const left = node->left;
                if (left != nullptr && key < keyOf(left)) {
                    node->left = left->right;
                    left->right = node;
                    node = left;
                }
                if (node->left == nullptr) {
                    break;
                }
                more = more->left = node;
                node = node->left;
            } else if (keyOf(node) < key) {
                Node* const right = node->right;
                if (right != nullptr && keyOf(right) < key) {
                    node->right = right->left;
                    right->left = node;
                    node = right;
                }
                if (node->right == nullptr) {
                    break;
                }
                less = less->right = node;
                node = node->right;
            } else {
                break;
            }
        }
        less->right = node->left;
        more->left = node->right;
        node->left = sides.right;
        node->right = sides.left;
        return node;
    }

    /// Pre: `key` is not below any key left of the root.
    void removeRoot(Key key) noexcept {
        Node* const right = root_->right;
        if (root_->left == nullptr) {
            root_ = right;
        } else {
            root_ = splay(root_->left, key); // the new root has no right subtree
            root_->right = right;
        }
    }

    Node* root_ = nullptr;
};

} // namespace heapwright
