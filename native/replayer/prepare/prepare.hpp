// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a plan from a trace, in two passes. The first finds the objects that another thread frees
// than the one that made them. The second writes the commands. Memory is in proportion to the
// objects that are live at once, plus one bit for each allocation.
#pragma once

#include "replayer/plan.hpp"

#include <cstdint>
#include <string>

namespace heapwright::replayer {

struct PrepareOptions {
    static constexpr std::uint32_t busiest = UINT32_MAX;

    std::string trace;
    std::string plan;
    std::uint32_t process = busiest; ///< which one; the one with the most events
    Order order = Order::bounded;
    bool paced = false;                         ///< with the recorded times
    bool gaps = false;                          ///< with the work between the calls
    std::uint64_t iterationsPerMillisecond = 0; ///< of that work; 0 = measure it
    std::uint64_t visitsPerMillisecond = 0;     ///< of objects, for that work
};

/// Throws trace::TraceError, std::system_error, std::runtime_error. Answers the plan's header.
PlanHeader prepare(const PrepareOptions& options);

} // namespace heapwright::replayer
