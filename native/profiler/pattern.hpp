// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How long-lived allocations come about: the cumulative count of them by operation, and the class
// that is decided from it. After Costa 2014, section 4.5.6, which distinguishes two patterns by
// eye. In *peak*, most of them are made in a small part of the run, and the count then stays about
// level. In *growing*, the count rises about linearly. The numeric rule here is this project's own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/folding_steps.hpp"
#include "profiler/json.hpp"

namespace heapwright::profiler {

/// What the rule looks at, and what it says.
struct PatternClass {
    std::optional<double> densestThird; ///< most that any third of the run made, as a share of all
    std::optional<double> lastQuarter;  ///< what the last quarter of the run made
    std::string_view name;              ///< peak, growing, or nothing where there are none
    std::string rule;
};

/// Decides the class from the number of long-lived allocations in each even step of a run that is
/// `stepsInRun` long. The last step may end with the run. The steps' edges seldom meet a third's or
/// a quarter's: of a step that lies only partly inside, that part counts.
PatternClass classify(const std::vector<std::uint64_t>& longLived, double stepsInRun);

class Pattern {
public:
    void addLongLived(std::uint64_t operation) { ++counts_.at(operation).longLived; }
    void write(Json& json, std::uint64_t operations) const;

private:
    static constexpr std::uint64_t written = 8;     ///< steps that are written as one
    static constexpr std::uint64_t firstStep = 125; ///< so that 1,000 operations are, as published
    static constexpr std::size_t mostSteps = 16'000;

    struct Cell {
        std::uint64_t longLived = 0;
        void absorb(const Cell& next) { longLived += next.longLived; }
    };
    FoldingSteps<Cell> counts_{firstStep, mostSteps};
};

} // namespace heapwright::profiler
