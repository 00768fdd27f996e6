// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Free blocks in binary tries by size, for the best fit. There are two tries per doubling of the
// size, and a bitmap that finds the next occupied one by a bit scan. Blocks of one size form a
// ring, and one of them is in the trie. Among equals, the oldest in the ring is taken first.
//
// The left subtree of a node has the sizes with a 0 at the next bit, the right one those with a 1.
// The node itself has any size that agrees with the path to it. A trie is therefore no deeper than
// the number of significant bits of a size, and needs no balancing.
// Invariant: `parent` is null in a node that is only in a ring, and a root's `parent` is the root
// itself. A node takes five words, so the smallest blocks cannot have one: `ExactFit` keeps those.
// Cost: a step for each bit of the size below its highest two.
// Source: the tree bins of Doug Lea's allocator since version 2.8, and so of ptmalloc3.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/structure/fit/block.hpp>
#include <heapwright/structure/fit/fit_policy.hpp>
#include <heapwright/structure/list/ring.hpp>
#include <heapwright/structure/map/bit_set.hpp>

#include <cstddef>
#include <new>

namespace heapwright {

class SizeTries {
    /// The trie node in the object of a free block.
    struct Node {
        RingNode ring;
        Node* child[2];
        Node* parent;

        [[nodiscard]] std::size_t size() noexcept { return Block::of(&ring)->size(); }
        /// A subtree with the smaller sizes, if the node has any.
        [[nodiscard]] Node* lower() const noexcept {
            return child[0] != nullptr ? child[0] : child[1];
        }
    };

public:
    /// The smallest block that a trie can keep.
    static constexpr std::size_t leastBlock =
        roundUp(Tag::bytes + sizeof(Node) + sizeof(std::size_t), minAlignment);

    constexpr SizeTries() noexcept = default;

    void add(Block* block) noexcept {
        auto* const node = ::new (block->object()) Node{{}, {nullptr, nullptr}, nullptr};
        node->ring = {&node->ring, &node->ring};
        const std::size_t size = block->size();
        const std::size_t trie = trieOf(size);
        if (!occupied_.has(trie)) {
            occupied_.set(trie);
            roots_[trie] = node->parent = node;
            return;
        }
        Node* at = roots_[trie];
        for (std::size_t bits = bitsOf(size, trie); at->size() != size; bits <<= 1U) {
            Node*& next = at->child[bits >> topBit];
            if (next == nullptr) {
                next = node;
                node->parent = at;
                return;
            }
            at = next;
        }
        Ring::addBefore(&at->ring, &node->ring);
    }

    /// Pre: the block is in a trie.
    void remove(Block* block) noexcept { removeNode(static_cast<Node*>(block->object())); }

    /// Removes and returns the smallest block of at least `request` bytes; null if there is none.
    [[nodiscard]] Block* takeFit(std::size_t request) noexcept {
        const std::size_t size = request < leastBlock ? leastBlock : request;
        const std::size_t trie = trieOf(size);
        Node* best = occupied_.has(trie) ? bestIn(trie, size) : nullptr;
        if (best == nullptr) {
            const std::size_t next = occupied_.next(trie + 1);
            if (next >= tries) {
                return nullptr;
            }
            best = leastOf(roots_[next], roots_[next]); // all blocks there are large enough
        }
        Node* const taken = nodeOf(best->ring.next); // another block of the ring, if there is one
        removeNode(taken);
        return Block::of(&taken->ring);
    }

    template <class Visit>
    void forEach(Visit visit) noexcept {
        for (std::size_t trie = occupied_.next(0); trie < tries; trie = occupied_.next(trie + 1)) {
            for (Node* node = roots_[trie]; node != nullptr;) {
                Node* const next = after(node);
                RingNode* equal = &node->ring;
                do {
                    RingNode* const other = equal->next;
                    visit(Block::of(equal));
                    equal = other;
                } while (equal != &node->ring);
                node = next;
            }
        }
    }

    void clear() noexcept { occupied_.clear(); }

private:
    static constexpr std::size_t tries = 64; ///< the last trie has all larger sizes
    static constexpr std::size_t leastLog = floorLog2(leastBlock);
    static constexpr unsigned topBit = 63;

    static_assert(leastBlock == 64);

    static Node* nodeOf(RingNode* ring) noexcept {
        return static_cast<Node*>(Block::of(ring)->object());
    }

    static constexpr std::size_t trieOf(std::size_t size) noexcept {
        const std::size_t log = floorLog2(size);
        const std::size_t trie = 2 * (log - leastLog) + ((size >> (log - 1)) & 1U);
        return trie < tries ? trie : tries - 1;
    }

    /// The bits in which the sizes of one trie differ, from the top.
    static constexpr std::size_t bitsOf(std::size_t size, std::size_t trie) noexcept {
        return trie == tries - 1 ? size : size << (topBit + 2 - leastLog - trie / 2);
    }

    /// The best fit in an occupied trie; null if none fits.
    Node* bestIn(std::size_t trie, std::size_t size) noexcept {
        Node* best = nullptr;
        Node* larger = nullptr; // the nearest branch whose sizes are all larger
        std::size_t bits = bitsOf(size, trie);
        for (Node* node = roots_[trie]; node != nullptr; bits <<= 1U) {
            const std::size_t have = node->size();
            if (have == size) {
                return node;
            }
            if (have > size && (best == nullptr || have < best->size())) {
                best = node;
            }
            Node* const next = node->child[bits >> topBit];
            if (node->child[1] != nullptr && node->child[1] != next) {
                larger = node->child[1];
            }
            node = next;
        }
        return larger == nullptr ? best : leastOf(larger, best == nullptr ? larger : best);
    }

    /// The smaller of `best` and the smallest block of a node and its subtrees.
    static Node* leastOf(Node* node, Node* best) noexcept {
        for (; node != nullptr; node = node->lower()) {
            best = node->size() < best->size() ? node : best;
        }
        return best;
    }

    void removeNode(Node* node) noexcept {
        if (node->ring.next != &node->ring) {
            Node* const equal = nodeOf(node->ring.next);
            Ring::remove(&node->ring);
            if (node->parent != nullptr) {
                replace(node, equal);
            }
            return;
        }
        Node* last = node; // a leaf of its subtree can replace it
        while (last->lower() != nullptr) {
            last = last->lower();
        }
        linkTo(last) = nullptr;
        if (last != node) {
            replace(node, last);
        } else if (node->parent == node) {
            occupied_.reset(trieOf(node->size()));
        }
    }

    /// The link that leads to a node.
    Node*& linkTo(Node* node) noexcept {
        Node* const parent = node->parent;
        return parent == node ? roots_[trieOf(node->size())]
                              : parent->child[parent->child[1] == node ? 1 : 0];
    }

    /// Puts another node into the place of a node.
    void replace(Node* node, Node* other) noexcept {
        linkTo(node) = other;
        other->parent = node->parent == node ? other : node->parent;
        for (const unsigned side : {0U, 1U}) {
            Node* const below = node->child[side];
            other->child[side] = below;
            if (below != nullptr) {
                below->parent = other;
            }
        }
    }

    /// The next node of a walk in preorder.
    static Node* after(Node* node) noexcept {
        if (node->lower() != nullptr) {
            return node->lower();
        }
        for (; node->parent != node; node = node->parent) {
            Node* const right = node->parent->child[1];
            if (right != nullptr && right != node) {
                return right;
            }
        }
        return nullptr;
    }

    BitSet<tries> occupied_;
    Node* roots_[tries] = {}; ///< in use if the bit is set
};

static_assert(PartialFit<SizeTries>);

} // namespace heapwright
