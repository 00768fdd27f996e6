// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The sequential fits: one list of all free blocks, searched block by block.
//
//   FirstFit   sorted by address; the first that is large enough
//   NextFit    sorted by address; the first from where the last search stopped, then from the start
//   BestFit    sorted by size; the smallest that is large enough, of equals the one freed last
//
// A search for a position starts at the position found last, so that blocks freed in some order are
// inserted at little cost.
// Cost: linear in the free blocks, in the worst case, for each operation.
// Source: Knuth (TAOCP 1, 2.5) describes first and next fit. Sorting by address keeps neighbours in
// memory adjacent in the list, and uses up the low end first.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/structure/fit/block.hpp>
#include <heapwright/structure/list/ring.hpp>

#include <cstddef>

namespace heapwright {

struct ByAddress {
    [[nodiscard]] static std::size_t keyOf(const Block* block) noexcept { return addressOf(block); }
};
struct BySize {
    [[nodiscard]] static std::size_t keyOf(const Block* block) noexcept { return block->size(); }
};

/// A list of blocks in ascending order of their keys.
template <class Order>
class SortedList {
public:
    constexpr SortedList() noexcept = default;

    void add(Block* block) noexcept {
        RingNode* const node = &block->links;
        Ring::addBefore(seek(Order::keyOf(block)), node);
        finger_ = node;
    }

    void remove(Block* block) noexcept {
        if (finger_ == &block->links) {
            finger_ = finger_->next;
        }
        Ring::remove(&block->links);
    }

    template <class Visit>
    void forEach(Visit visit) noexcept {
        for (RingNode* node = front(); node != end();) {
            RingNode* const next = node->next;
            visit(Block::of(node));
            node = next;
        }
    }

    void clear() noexcept { finger_ = nullptr; }

    [[nodiscard]] RingNode* front() noexcept {
        prepare();
        return ring_.front();
    }
    /// The end of a walk from `front` along `next`.
    [[nodiscard]] RingNode* end() noexcept { return ring_.end(); }

    /// The first block whose key is not below `key`, or the end.
    [[nodiscard]] RingNode* seek(std::size_t key) noexcept {
        prepare();
        if (ring_.empty() || keyAt(ring_.back()) < key) {
            return end();
        }
        if (keyAt(front()) >= key) {
            return front();
        }
        RingNode* node = finger_;
        while (node != end() && keyAt(node) < key) {
            node = node->next;
        }
        while (keyAt(node->previous) >= key) { // ends at the front
            node = node->previous;
        }
        return finger_ = node;
    }

private:
    static std::size_t keyAt(RingNode* node) noexcept { return Order::keyOf(Block::of(node)); }

    void prepare() noexcept {
        if (finger_ == nullptr) {
            ring_.reset();
            finger_ = end();
        }
    }

    Ring ring_;
    RingNode* finger_ = nullptr; ///< where a search begins; null: the ring is not initialised
};

class FirstFit : public SortedList<ByAddress> {
public:
    [[nodiscard]] Block* takeFit(std::size_t size) noexcept {
        for (RingNode* node = front(); node != end(); node = node->next) {
            Block* const block = Block::of(node);
            if (block->size() >= size) {
                remove(block);
                return block;
            }
        }
        return nullptr;
    }
};

class NextFit : public SortedList<ByAddress> {
public:
    /// The rest of a block follows it in memory, so the next search begins with the rest.
    [[nodiscard]] Block* takeFit(std::size_t size) noexcept {
        RingNode* const start = seek(stopped_ + 1);
        Block* found = firstOf(start, end(), size);
        if (found == nullptr) {
            found = firstOf(front(), start, size);
        }
        if (found != nullptr) {
            remove(found);
            stopped_ = addressOf(found);
        }
        return found;
    }

    void clear() noexcept {
        SortedList::clear();
        stopped_ = 0;
    }

private:
    static Block* firstOf(RingNode* node, const RingNode* last, std::size_t size) noexcept {
        for (; node != last; node = node->next) {
            Block* const block = Block::of(node);
            if (block->size() >= size) {
                return block;
            }
        }
        return nullptr;
    }

    Address stopped_ = 0; ///< the address of the block that was taken last
};

class BestFit : public SortedList<BySize> {
public:
    [[nodiscard]] Block* takeFit(std::size_t size) noexcept {
        RingNode* const node = seek(size);
        if (node == end()) {
            return nullptr;
        }
        Block* const block = Block::of(node);
        remove(block);
        return block;
    }
};

} // namespace heapwright
