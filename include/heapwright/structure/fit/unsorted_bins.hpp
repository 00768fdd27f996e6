// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Free blocks by size, but sorted late: what becomes free waits in one ring, and is put into its
// bin (structure/fit/fit_bins.hpp) when a request comes by that it does not fit exactly.
//
// So a block that is wanted again at once, at its size, is found where it was left, and one that
// merges with a neighbour meanwhile was never sorted. Cost: constant for each block, late. The
// unsorted chunks of Doug Lea's allocator 2.7, and so of ptmalloc2.
#pragma once

#include <heapwright/structure/fit/block.hpp>
#include <heapwright/structure/fit/fit_bins.hpp>
#include <heapwright/structure/fit/fit_policy.hpp>
#include <heapwright/structure/list/ring.hpp>

#include <cstddef>

namespace heapwright {

class UnsortedBins {
public:
    constexpr UnsortedBins() noexcept = default;

    void add(Block* block) noexcept {
        if (!used_) [[unlikely]] {
            unsorted_.reset();
            used_ = true;
        }
        unsorted_.addBack(&block->links);
    }

    /// Wherever the block is: a ring need not be known to leave it.
    static void remove(Block* block) noexcept { FitBins::remove(block); }

    /// Takes out a block of just `size` bytes that has not been sorted, or, when all have, about
    /// the smallest that is large enough; null if there is none.
    [[nodiscard]] Block* takeFit(std::size_t size) noexcept {
        while (used_ && !unsorted_.empty()) {
            Block* const block = Block::of(unsorted_.front());
            remove(block);
            if (block->size() == size) {
                return block;
            }
            sorted_.add(block);
        }
        return sorted_.takeFit(size);
    }

    template <class Visit>
    void forEach(Visit visit) noexcept {
        if (used_) {
            for (RingNode* node = unsorted_.front(); node != unsorted_.end();) {
                RingNode* const next = node->next;
                visit(Block::of(node));
                node = next;
            }
        }
        sorted_.forEach(visit);
    }

    void clear() noexcept {
        used_ = false;
        sorted_.clear();
    }

private:
    FitBins sorted_;
    Ring unsorted_; ///< in use if `used_`
    bool used_ = false;
};

static_assert(FitPolicy<UnsortedBins>);

} // namespace heapwright
