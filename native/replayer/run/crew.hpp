// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A replay from the first command to the last: as many threads as the trace has, the first of them
// the process's own, for allocators treat that one differently. A further thread is started as soon
// as no more are alive than were in the recording when it began; so a program that goes through ten
// thousand short threads is not replayed with ten thousand at a time.
#pragma once

#include "options.hpp"
#include "watching.hpp"
#include "worker.hpp"

#include <cstddef>
#include <cstdint>
#include <sys/resource.h>

namespace heapwright::replayer {

struct Plan;

/// What a replay came to.
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
    std::uint64_t readingTicks = 0; ///< that it took to read commands while the clock ran
    AllHistogram*
        histograms[routines]{}; ///< of all threads together; null for what is never called
};

Outcome replay(const Plan& plan, const RunOptions& options, Watched& watched);

} // namespace heapwright::replayer
