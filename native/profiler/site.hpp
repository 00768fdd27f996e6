// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One allocation site: a call chain of one process, and the sums of what it allocated.
//
// The share of each site at the peak is exact, and costs a compare for each change. The pass counts
// the peaks: moments with more live bytes than ever before. A site keeps its live memory before the
// first change after a peak. So no peak visits all sites.
#pragma once

#include <cstdint>

namespace heapwright::profiler {

struct Site {
    std::uint32_t process = 0;
    std::uint32_t stack = 0;
    std::uint64_t allocations = 0;
    std::uint64_t bytes = 0;
    std::uint64_t shortLived = 0;
    std::uint64_t temporary = 0; ///< ended before another allocation of their thread
    std::uint64_t neverFreed = 0;
    std::uint64_t neverFreedBytes = 0;
    std::uint64_t live = 0; ///< bytes, now
    std::uint64_t liveBlocks = 0;
    std::uint64_t mostLive = 0; ///< bytes, at any moment of the course
    std::uint64_t peak = 0;     ///< number of the last peak that `atPeak` is for
    std::uint64_t atPeak = 0;   ///< bytes
    std::uint64_t blocksAtPeak = 0;

    /// Before each change of the live memory; `peaks` is the number of peaks so far.
    void keepPeak(std::uint64_t peaks) {
        if (peak != peaks) {
            peak = peaks;
            atPeak = live;
            blocksAtPeak = liveBlocks;
        }
    }
};

} // namespace heapwright::profiler
