// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See pace.hpp.
#include "pace.hpp"

#include "futex.hpp"

#include <heapwright/platform/ticks.hpp>

#include <ctime>

namespace heapwright::replayer {

namespace {

constexpr std::uint64_t awake = 100'000; ///< ns before the moment from which on it is not slept
constexpr std::uint64_t second = 1'000'000'000;

} // namespace

std::uint64_t now() {
    return platform::clockNanoseconds(CLOCK_MONOTONIC);
}

void waitUntil(std::uint64_t when) {
    if (now() + awake < when) {
        const std::uint64_t until = when - awake;
        const timespec moment{.tv_sec = static_cast<time_t>(until / second),
                              .tv_nsec = static_cast<long>(until % second)};
        while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nullptr) != 0) {
        }
    }
    while (now() < when) {
        pauseProcessor();
    }
}

} // namespace heapwright::replayer
