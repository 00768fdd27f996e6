// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts along the operations of a trace of unknown length, in even steps. When there would be too
// many steps, their length doubles and their number halves. Sums stay exact, and memory is fixed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace heapwright::profiler {

/// `Cell` has `absorb(next)`, which adds the step that follows it.
template <typename Cell>
class FoldingSteps {
public:
    FoldingSteps(std::uint64_t step, std::size_t most) : step_(step == 0 ? 1 : step), most_(most) {}

    /// The cell of an operation, counted from 0.
    Cell& at(std::uint64_t operation) {
        while (operation / step_ >= most_)
            fold();
        const auto index = static_cast<std::size_t>(operation / step_);
        if (index >= cells_.size())
            cells_.resize(index + 1);
        return cells_[index];
    }

    std::uint64_t step() const { return step_; }
    const std::vector<Cell>& cells() const { return cells_; }

private:
    void fold() {
        step_ *= 2;
        for (std::size_t at = 0; at < cells_.size(); ++at) {
            if (at % 2 == 1)
                cells_[at / 2].absorb(cells_[at]);
            else if (at > 0)
                cells_[at / 2] = std::move(cells_[at]);
        }
        cells_.resize((cells_.size() + 1) / 2);
    }

    std::uint64_t step_;
    std::size_t most_;
    std::vector<Cell> cells_;
};

} // namespace heapwright::profiler
