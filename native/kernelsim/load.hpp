// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A load: the activities of a kernel, how often each occurs, what it allocates, and for how long.
// It is made from a load file and read as text (LOAD.md). All values are checked.
#pragma once

#include "kernelsim/traffic.hpp"

#include <cstdint>
#include <iosfwd>
#include <stdexcept>
#include <vector>

namespace heapwright::kernelsim {

/// The reason why a text is not a valid load.
class LoadError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The lifetime of an object, in operations.
struct Life {
    enum class Kind : std::uint8_t {
        with,    ///< until its activity ends
        mean,    ///< exponential, with the mean `least`
        between, ///< uniform
        dropped, ///< until memory is needed
        end,     ///< until the end of the run
    };
    Kind kind = Kind::with;
    std::uint64_t least = 0;
    std::uint64_t most = 0;
};

/// An allocation of an activity.
struct Part {
    Event::Verb verb = Event::Verb::take;
    std::uint32_t cache = 0;
    std::uint64_t leastSize = 0; ///< for an allocation without a cache
    std::uint64_t mostSize = 0;
    std::uint8_t order = 0;
    std::uint8_t mobility = 0;
    std::uint64_t leastCount = 1;
    std::uint64_t mostCount = 1;
    Life life;
};

struct Activity {
    double weight = 0;
    double elsewhere = 0; ///< the probability that it is freed on another processor
    Life life;
    std::vector<Part> parts;
};

struct Load {
    std::uint64_t memory = 128;   ///< MiB
    std::uint64_t operations = 0; ///< each begins an activity
    double nanoseconds = 0;       ///< mean time between two operations
    std::vector<CacheKind> caches;
    double fill = 0;                ///< share of the memory that movable pages fill at the start
    double holes = 0;               ///< share of these that are free again
    std::uint64_t reclaimEvery = 0; ///< operations between two reclaims; 0: never
    std::uint64_t reclaimPages = 0; ///< pages that a reclaim drops
    std::vector<Activity> activities;
};

/// Throws LoadError, which names the position of the invalid text.
Load readLoad(std::istream& text);

/// The same load, seed and number of processors give the same traffic.
Traffic draw(const Load& load, std::size_t processors, std::uint64_t seed);

} // namespace heapwright::kernelsim
