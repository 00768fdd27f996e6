// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The exact live memory of every site at moments that the caller names. A moment at a time is
// before the calls of that time, as a point of the timeline is. A moment after the last call is
// the end. A moment can also be named by its operation: it is then after that many operations.
//
// Cost: one pass over the sites for each moment, and with pages a sort of the live blocks. Memory:
// 24 bytes for each moment and site with live blocks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profiler/live_state.hpp"
#include "profiler/pins.hpp"
#include "profiler/site.hpp"

namespace heapwright::profiler {

struct Moment {
    struct Held {
        std::uint32_t site = 0; ///< its number
        std::uint64_t blocks = 0;
        std::uint64_t bytes = 0;
    };
    LiveState state;
    std::vector<Held> held; ///< by ascending site, without those that have no live block
    std::map<std::uint32_t, Pins> pins; ///< by site; empty if pages are not counted
};

/// A moment by its requested name.
struct NamedMoment {
    std::string name;
    Moment moment;
};

/// What is to be looked at.
struct WantedMoments {
    static constexpr std::uint64_t never = UINT64_MAX;

    std::vector<std::uint64_t> times;      ///< ns, in any order
    std::uint64_t afterOperations = never; ///< one moment more
    bool pages = false;                    ///< count the pages of the sites, too
};

class Moments {
public:
    explicit Moments(WantedMoments wanted = {});

    /// The time of the next moment, in ns.
    std::uint64_t next() const { return next_; }
    std::uint64_t nextOperations() const { return wanted_.afterOperations; }
    bool countsPages() const { return wanted_.pages; }

    /// Whether a time is left, also one after the last call.
    bool remains() const { return taken_.size() < sorted_.size(); }
    /// The state before the calls of the next time.
    void takeNext(Moment moment);
    /// The state after the operations of `nextOperations`.
    void takeOperation(Moment moment);

    /// One for each of the wanted times, in the order that they were named.
    std::vector<Moment> byTime() const;
    /// The one that was named by its operation; none if there were fewer operations.
    const Moment* byOperation() const { return operation_.empty() ? nullptr : &operation_.front(); }

private:
    static constexpr std::uint64_t never = WantedMoments::never;

    WantedMoments wanted_;
    std::vector<std::uint64_t> sorted_; ///< each time once
    std::uint64_t next_ = never;
    std::vector<Moment> taken_; ///< of the first of `sorted_`
    std::vector<Moment> operation_;
};

} // namespace heapwright::profiler
