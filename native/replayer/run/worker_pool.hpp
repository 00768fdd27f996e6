// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs all commands of a plan on the threads of the recording. The process's main thread replays
// the first recorded thread, because allocators treat the main thread specially.
//
// A further thread starts when no more threads are alive than were alive in the recording at its
// start. A program with ten thousand short threads is thus not replayed with all of them at once.
#pragma once

#include "observer_policy.hpp"
#include "options.hpp"
#include "worker.hpp"

#include <cstddef>
#include <cstdint>
#include <sys/resource.h>

namespace heapwright::replayer {

struct Plan;

/// The measurements of a replay.
struct Outcome {
    std::uint64_t nanoseconds = 0;
    double userSeconds = 0;
    double systemSeconds = 0;
    double nanosecondsPerTick = 0; ///< 0: there is no counter that tells time
    std::size_t peakBytes = 0;     ///< most resident, without the replay's own
    std::size_t fileBytes = 0;     ///< of these, of files: programs and libraries
    std::size_t ownBytes = 0;
    bool streamed = false;
    bool timed = false; ///< the histograms hold something
    std::uint64_t failed = 0;
    std::uint64_t calls = 0;
    Waits waits;                    ///< of all threads together
    std::uint64_t iterations = 0;   ///< of the work between calls
    std::uint64_t visitedLines = 0; ///< cache lines of visited objects
    std::uint64_t readingTicks = 0; ///< that it took to read commands while the clock ran
    AllHistogram*
        histograms[routines]{}; ///< of all threads together; null for what is never called
};

Outcome replay(const Plan& plan, const RunOptions& options, Observers& observers);

} // namespace heapwright::replayer
