// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws an index by weight in constant time, with the alias method. Each entry of the table holds
// two candidates and the border between them.
// Source: Walker, 1977, in the form of Vose, 1991.
#pragma once

#include <heapwright/core/random.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapwright::synth {

class AliasTable {
public:
    AliasTable() = default;

    /// Weights are finite and not negative. If all are zero, the table is empty.
    explicit AliasTable(const std::vector<double>& weights) {
        double total = 0;
        for (const double weight : weights)
            total += weight;
        if (total <= 0)
            return;
        fill(weights, static_cast<double>(weights.size()) / total);
    }

    bool empty() const { return entries_.empty(); }

    /// Draws an index. Pre: the table is not empty.
    std::size_t draw(Random& random) const {
        const std::size_t at = random.below(entries_.size());
        return random.chance(entries_[at].border) ? at : entries_[at].other;
    }

private:
    struct Entry {
        double border;
        std::uint32_t other;
    };

    void fill(const std::vector<double>& weights, double scale) {
        std::vector<std::uint32_t> small;
        std::vector<std::uint32_t> large;
        entries_.resize(weights.size());
        for (std::uint32_t at = 0; at < weights.size(); ++at) {
            entries_[at] = {weights[at] * scale, at};
            (entries_[at].border < 1 ? small : large).push_back(at);
        }
        while (!small.empty() && !large.empty()) {
            const std::uint32_t low = small.back();
            const std::uint32_t high = large.back();
            small.pop_back();
            entries_[low].other = high;
            entries_[high].border -= 1 - entries_[low].border;
            if (entries_[high].border < 1) {
                large.pop_back();
                small.push_back(high);
            }
        }
        settle(weights, small);
        for (const std::uint32_t at : large)
            entries_[at].border = 1;
    }

    /// Completes the entries that rounding left over. No entry selects an index of weight zero.
    void settle(const std::vector<double>& weights, const std::vector<std::uint32_t>& rest) {
        std::uint32_t some = 0;
        while (weights[some] <= 0)
            ++some;
        for (const std::uint32_t at : rest)
            entries_[at] = weights[at] > 0 ? Entry{1, at} : Entry{0, some};
    }

    std::vector<Entry> entries_;
};

} // namespace heapwright::synth
