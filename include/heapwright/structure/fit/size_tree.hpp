// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// All free blocks in one search tree by size, of equal ones by address: the best fit, and of
// equally good ones the lowest. The tree balances itself by being used: whatever is looked for
// moves to the root, and the way there halves in length, so that sizes which are asked for often
// are near.
//
// Invariants: the links of a block are its subtrees, less to the left, and no two blocks are equal;
// there is no room for a way up in the smallest block, nor a need for one. Cost: logarithmic, over
// any sequence of operations. Splay trees are Sleator's and Tarjan's (JACM 32:3, 1985), here from
// the root down; Vo's vmalloc keeps its free blocks in one. To be that published mechanism this one
// is kept beside the treap of structure/fit/fit_tree.hpp, which serves the dictionary of objects.
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

    /// Takes out the least block of at least `size` bytes; null if there is none.
    [[nodiscard]] Block* takeFit(std::size_t size) noexcept {
        if (root_ == nullptr) {
            return nullptr;
        }
        const Key key{size, 0}; // no block is equal to it, the root is the one before or behind it
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

    /// In the order of size. Straightens the tree to a list first: any depth, and no stack.
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
    /// Stands in the object of a free block.
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

    /// The tree that has at its root the node of this key, or if there is none a neighbour of where
    /// it would be. Takes the way down apart into what is less (`less`, grown at its right end) and
    /// what is more (`more`, at its left end), then puts them under what is found.
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
            root_ = splay(root_->left, key); // which has nothing at its right then
            root_->right = right;
        }
    }

    Node* root_ = nullptr;
};

} // namespace heapwright
