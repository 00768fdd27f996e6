// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A load: which activities of a kernel there are, how often each of them comes, what it takes, and
// for how long. It is made from a load file and read as text; LOAD.md describes it. Nothing in the
// text is believed before it is bounded.
#pragma once

#include "kernelsim/traffic.hpp"

#include <cstdint>
#include <iosfwd>
#include <stdexcept>
#include <vector>

namespace heapwright::kernelsim {

/// Why a text is no load.
class LoadError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// For how many operations something lives.
struct Life {
    enum class Kind : std::uint8_t {
        with,    ///< as long as the rest of its activity
        mean,    ///< exponential, with the mean `least`
        between, ///< evenly drawn
        dropped, ///< until memory is needed
        end,     ///< as long as the machine
    };
    Kind kind = Kind::with;
    std::uint64_t least = 0;
    std::uint64_t most = 0;
};

/// Something that an activity takes.
struct Part {
    Event::Verb verb = Event::Verb::take;
    std::uint32_t cache = 0;
    std::uint64_t leastSize = 0; ///< of what has no cache
    std::uint64_t mostSize = 0;
    std::uint8_t order = 0;
    std::uint8_t mobility = 0;
    std::uint64_t leastCount = 1;
    std::uint64_t mostCount = 1;
    Life life;
};

struct Activity {
    double weight = 0;
    double elsewhere = 0; ///< the probability that it is ended on another processor
    Life life;
    std::vector<Part> parts;
};

struct Load {
    std::uint64_t memory = 128;   ///< MiB
    std::uint64_t operations = 0; ///< each is an activity that begins
    double nanoseconds = 0;       ///< from one to the next, on average
    std::vector<CacheKind> caches;
    double fill = 0;                ///< share of the memory that is movable pages at the start
    double holes = 0;               ///< share of these that are free again
    std::uint64_t reclaimEvery = 0; ///< operations; 0: never
    std::uint64_t reclaimPages = 0; ///< worth of what can be dropped
    std::vector<Activity> activities;
};

/// Throws LoadError, which says where the text stops making sense.
Load readLoad(std::istream& text);

/// The same load, seed and number of processors give the same traffic.
Traffic draw(const Load& load, std::size_t processors, std::uint64_t seed);

} // namespace heapwright::kernelsim
