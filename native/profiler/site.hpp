// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One allocation site: a call chain of one process, and the sums of what it allocated.
#pragma once

#include <cstdint>

namespace heapwright::profiler {

struct Site {
    std::uint32_t process = 0;
    std::uint32_t stack = 0;
    std::uint64_t allocations = 0;
    std::uint64_t bytes = 0;
    std::uint64_t shortLived = 0;
    std::uint64_t neverFreed = 0;
    std::uint64_t neverFreedBytes = 0;
    std::uint64_t live = 0;     ///< bytes, now
    std::uint64_t mostLive = 0; ///< bytes, at any moment of the course
};

} // namespace heapwright::profiler
