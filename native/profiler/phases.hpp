// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What happened in even stretches of the operations: how a run's character changes on its way.
#pragma once

#include <cstdint>

#include "profiler/folding_steps.hpp"
#include "profiler/json.hpp"
#include "profiler/live_state.hpp"

namespace heapwright::profiler {

class Phases {
public:
    explicit Phases(std::uint64_t operations) : steps_(operations / mostSteps + 1, mostSteps) {}

    /// The stretch that operation `operation` is in. Valid until the next call.
    struct Cell {
        std::uint64_t allocations = 0;
        std::uint64_t bytes = 0;
        std::uint64_t ends = 0;
        std::uint64_t longLived = 0;
        std::uint64_t handedOver = 0;
        LiveState last;
        void absorb(const Cell& next);
    };
    Cell& at(std::uint64_t operation) { return steps_.at(operation); }
    /// The first operation after the stretch that `operation` is in.
    std::uint64_t endOf(std::uint64_t operation) const {
        return (operation / steps_.step() + 1) * steps_.step();
    }

    void write(Json& json) const;

private:
    static constexpr std::size_t mostSteps = 200;
    FoldingSteps<Cell> steps_;
};

} // namespace heapwright::profiler
