// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What one replaying thread has: its commands, the slots of its own objects, its histograms. All
// of it is there before the clock starts.
#pragma once

#include "command_reader.hpp"
#include "object_exchange.hpp"
#include "order_semaphore.hpp"
#include "progress.hpp"

#include "replayer/histogram.hpp"
#include "replayer/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace heapwright::replayer {

constexpr unsigned routines = 32; ///< numbers that a routine may have

struct Worker {
    const PlanThread* plan = nullptr;
    std::size_t index = 0;
    CommandReader commands;
    void** own = nullptr; ///< its slots
    ObjectExchange shared{nullptr};
    OrderSemaphore* order = nullptr;     ///< of all workers, by index
    std::span<Progress> progress;        ///< likewise, in the bounded order
    const PlanThread* threads = nullptr; ///< likewise
    std::size_t ended = 0;             ///< number of workers, from the first one on, that are known
                                       ///< to have ended
    Histogram* histograms[routines]{}; ///< null for what it never calls
    Waits waits;
    std::uint64_t failed = 0;     ///< calls that got no memory
    std::uint64_t iterations = 0; ///< of the work between calls
    std::uint64_t visitedLines = 0;
    std::uint64_t began = 0; ///< ns of the monotonic clock, of the whole replay
};

} // namespace heapwright::replayer
