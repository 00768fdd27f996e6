// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The source of a synthetic load. It has sizes in bands, and lifetimes in classes. Phases state how
// often each pair of these is drawn. Threads have the threads to which they hand blocks. A program
// that fits a profile makes a plan as text. PLAN.md describes it. Nothing in the text is believed
// before it is bounded.
#pragma once

#include "synth/alias_table.hpp"
#include "trace/event.hpp"

#include <cstdint>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <vector>

namespace heapwright::synth {

/// Why a text is no plan.
class PlanError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Sizes low, low + step … up to high, all equally likely.
struct Sizes {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint64_t step = 1;
};

/// Sizes that have their lifetimes in common.
struct Band {
    std::vector<Sizes> sizes;
    AliasTable which;
    double handing = 1; ///< how much likelier than on average blocks of these sizes change hands
};

/// When blocks end.
struct Lifetime {
    enum class Kind : std::uint8_t {
        operations, ///< between low and high operations after they were made
        end,        ///< when all else is over
        never
    };
    Kind kind = Kind::never;
    std::uint64_t low = 0;
    std::uint64_t high = 0;
};

struct Cell {
    std::uint32_t band = 0;
    std::uint32_t lifetime = 0;
};

/// A stretch of operations in which the mixture stays the same.
struct Phase {
    std::uint64_t operations = 0; ///< that pass on the clock which lifetimes are counted on
    double nanoseconds = 0;       ///< that it lasts
    double handing = 1;           ///< as a band's
    std::vector<Cell> cells;
    std::vector<std::uint64_t> counts; ///< allocations of each cell
};

struct Thread {
    double weight = 0;        ///< its share of the allocations while it lives
    std::uint64_t begins = 0; ///< the operation at which it is there first
    std::uint64_t ends = 0;   ///< and from which on it no longer is
    double hands = 0;         ///< the probability that a block of its is ended by another
    std::vector<std::uint32_t> takers;
    AliasTable which;
};

struct Choice {
    trace::Routine routine = trace::Routine::malloc;
    std::uint64_t alignment = 0;
};

struct Plan {
    std::uint64_t seed = 0;
    double nullFrees = 0; ///< the free of null for each allocation
    double moves = 0;     ///< the probability that a block ends in a realloc, not a free
    std::vector<Choice> routines;
    AliasTable whichRoutine;
    std::vector<Band> bands;
    std::vector<Lifetime> lifetimes;
    std::vector<Thread> threads;
    std::vector<Phase> phases;
};

/// Throws PlanError, which says where the text stops making sense.
Plan readPlan(std::istream& text);

} // namespace heapwright::synth
