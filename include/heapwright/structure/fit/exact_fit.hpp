// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A list for each of the `Count` smallest block sizes, and another fit for larger blocks.
//
// A request takes from the first list with a block, from its own size upward, and otherwise from
// the other fit. The whole is a best fit if the other fit is. Blocks of one size are taken in the
// order in which they were freed.
// Cost: a bit scan below the last list's size.
// Source: the free lists of Windows NT and its successors.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/structure/fit/block.hpp>
#include <heapwright/structure/fit/fit_policy.hpp>
#include <heapwright/structure/list/ring.hpp>
#include <heapwright/structure/map/bit_set.hpp>

#include <cstddef>

namespace heapwright {

template <std::size_t Count, FitFrom<Block::minSize + Count * minAlignment> Beyond>
class ExactFit {
public:
    constexpr ExactFit() noexcept = default;

    void add(Block* block) noexcept {
        const std::size_t list = listOf(block->size());
        if (list >= Count) {
            beyond_.add(block);
            return;
        }
        if (!occupied_.has(list)) {
            occupied_.set(list);
            lists_[list].reset();
        }
        lists_[list].addBack(&block->links);
    }

    void remove(Block* block) noexcept {
        const std::size_t list = listOf(block->size());
        if (list >= Count) {
            beyond_.remove(block);
            return;
        }
        Ring::remove(&block->links);
        if (lists_[list].empty()) {
            occupied_.reset(list);
        }
    }

    [[nodiscard]] Block* takeFit(std::size_t size) noexcept {
        const std::size_t list = occupied_.next(listOf(size));
        if (list >= Count) {
            return beyond_.takeFit(size);
        }
        Block* const block = Block::of(lists_[list].front());
        remove(block);
        return block;
    }

    template <class Visit>
    void forEach(Visit visit) noexcept {
        for (std::size_t list = occupied_.next(0); list < Count; list = occupied_.next(list + 1)) {
            for (RingNode* node = lists_[list].front(); node != lists_[list].end();) {
                RingNode* const next = node->next;
                visit(Block::of(node));
                node = next;
            }
        }
        beyond_.forEach(visit);
    }

    void clear() noexcept {
        occupied_.clear();
        beyond_.clear();
    }

private:
    static constexpr std::size_t listOf(std::size_t size) noexcept {
        return (size - Block::minSize) / minAlignment;
    }

    BitSet<Count> occupied_;
    Ring lists_[Count]; ///< the list is in use if its bit is set
    Beyond beyond_;
};

} // namespace heapwright
