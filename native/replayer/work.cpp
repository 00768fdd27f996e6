// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See work.hpp.
#include "work.hpp"

#include <heapwright/platform/ticks.hpp>

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace heapwright::replayer {

void compute(std::uint64_t iterations) {
    constexpr std::uint64_t factor = 0x9e37'79b9'7f4a'7c15U;
    std::uint64_t value = iterations;
    for (; iterations != 0; --iterations) {
        value = value * factor + 1;
        asm volatile("" : "+r"(value)); // the compiler may neither shorten nor unroll the chain
    }
}

std::uint64_t measureIterationsPerMillisecond() {
    constexpr std::uint64_t iterations = 200'000;
    constexpr int trials = 9;
    constexpr std::uint64_t nanoseconds = 1'000'000;
    std::uint64_t least = UINT64_MAX;
    for (int trial = 0; trial < trials; ++trial) {
        const std::uint64_t began = platform::clockNanoseconds(CLOCK_THREAD_CPUTIME_ID);
        compute(iterations);
        least = std::min(least, platform::clockNanoseconds(CLOCK_THREAD_CPUTIME_ID) - began);
    }
    return std::max<std::uint64_t>(1, iterations * nanoseconds / std::max<std::uint64_t>(1, least));
}

} // namespace heapwright::replayer
