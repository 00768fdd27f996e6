// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws from a multiset without replacement: each kind is drawn exactly as often as its count
// says, in random order. A draw descends a tree of partial sums.
// Source: Fenwick, 1994.
#pragma once

#include <heapwright/core/random.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapwright::synth {

class FenwickSampler {
public:
    explicit FenwickSampler(const std::vector<std::uint64_t>& counts) : sums_(counts.size() + 1) {
        for (std::size_t at = 1; at < sums_.size(); ++at) {
            left_ += counts[at - 1];
            sums_[at] += counts[at - 1];
            const std::size_t above = at + (at & (~at + 1));
            if (above < sums_.size())
                sums_[above] += sums_[at];
        }
    }

    std::uint64_t left() const { return left_; }

    /// Draws and removes one element, and returns its kind. Pre: `left()` is not 0.
    std::size_t draw(Random& random) {
        std::uint64_t rank = random.below(left_--);
        std::size_t at = 0;
        for (std::size_t step = std::bit_floor(sums_.size() - 1); step != 0; step /= 2) {
            const std::size_t next = at + step;
            if (next >= sums_.size())
                continue;
            if (sums_[next] <= rank) {
                rank -= sums_[next];
                at = next;
            } else {
                --sums_[next];
            }
        }
        return at;
    }

private:
    std::vector<std::uint64_t> sums_; ///< at n: of the last n & -n kinds up to the n-th
    std::uint64_t left_ = 0;
};

} // namespace heapwright::synth
