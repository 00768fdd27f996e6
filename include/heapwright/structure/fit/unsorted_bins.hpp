// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Free blocks by size, sorted late: a freed block waits in one ring. It goes into its bin
// (structure/fit/fit_bins.hpp) when a request visits it that it does not fit exactly.
//
// A block that is soon requested again at its size is thus found at once, and a block that merges
// meanwhile is never sorted.
// Cost: constant for each block, paid by a later request.
// Source: the unsorted chunks of Doug Lea's allocator 2.7, and so of ptmalloc2.
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

    /// Works in any ring, because a block can leave a ring without knowing it.
    static void remove(Block* block) noexcept { FitBins::remove(block); }

    /// Removes and returns an unsorted block of exactly `size` bytes. If there is none, all are
    /// sorted, and approximately the smallest block that is large enough is returned; null if there
    /// is none.
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
    Ring unsorted_; ///< valid if `used_`
    bool used_ = false;
};

static_assert(FitPolicy<UnsortedBins>);

} // namespace heapwright
