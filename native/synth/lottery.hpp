// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws one of several by their weights, in one step: the alias method (Walker 1977, in the form of
// Vose 1991). Each place of the table holds two candidates and where between them the border is.
#pragma once

#include <heapwright/core/random.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapwright::synth {

class Lottery {
public:
    Lottery() = default;

    /// Weights are finite and not negative. Without any that is above zero the lottery is empty.
    explicit Lottery(const std::vector<double>& weights) {
        double total = 0;
        for (const double weight : weights)
            total += weight;
        if (total <= 0)
            return;
        fill(weights, static_cast<double>(weights.size()) / total);
    }

    bool empty() const { return places_.empty(); }

    /// The number of what was drawn; the lottery is not empty.
    std::size_t draw(Random& random) const {
        const std::size_t at = random.below(places_.size());
        return random.chance(places_[at].border) ? at : places_[at].other;
    }

private:
    struct Place {
        double border;
        std::uint32_t other;
    };

    void fill(const std::vector<double>& weights, double scale) {
        std::vector<std::uint32_t> small;
        std::vector<std::uint32_t> large;
        places_.resize(weights.size());
        for (std::uint32_t at = 0; at < weights.size(); ++at) {
            places_[at] = {weights[at] * scale, at};
            (places_[at].border < 1 ? small : large).push_back(at);
        }
        while (!small.empty() && !large.empty()) {
            const std::uint32_t low = small.back();
            const std::uint32_t high = large.back();
            small.pop_back();
            places_[low].other = high;
            places_[high].border -= 1 - places_[low].border;
            if (places_[high].border < 1) {
                large.pop_back();
                small.push_back(high);
            }
        }
        settle(weights, small);
        for (const std::uint32_t at : large)
            places_[at].border = 1;
    }

    /// What rounding left over: full places, but never for what has no weight.
    void settle(const std::vector<double>& weights, const std::vector<std::uint32_t>& rest) {
        std::uint32_t some = 0;
        while (weights[some] <= 0)
            ++some;
        for (const std::uint32_t at : rest)
            places_[at] = weights[at] > 0 ? Place{1, at} : Place{0, some};
    }

    std::vector<Place> places_;
};

} // namespace heapwright::synth
