// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What one replaying thread has: its commands, the places of its own objects, its histograms. All
// of it is there before the clock starts.
#pragma once

#include "feed.hpp"
#include "hand_overs.hpp"
#include "histogram.hpp"
#include "turn.hpp"

#include "replayer/plan.hpp"

#include <cstddef>
#include <cstdint>

namespace heapwright::replayer {

constexpr unsigned routines = 32; ///< numbers that a routine may have

struct Worker {
    const PlanThread* plan = nullptr;
    std::size_t index = 0;
    Feed feed;
    void** own = nullptr; ///< its places
    HandOvers shared{nullptr};
    Turn* turns = nullptr;             ///< of all workers, by index
    Histogram* histograms[routines]{}; ///< null for what it never calls
    Waits waits;
    std::uint64_t failed = 0; ///< calls that got no memory
    std::uint64_t began = 0;  ///< ns of the monotonic clock, of the whole replay
};

} // namespace heapwright::replayer
