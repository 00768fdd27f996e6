// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The clocks of the harness, in nanoseconds. They are the monotonic clock for wall time, the CPU
// time of this program, and the CPU time of any other process. The kernel reports the latter to any
// caller in one system call, even for a process that has ended and was not waited for.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <sys/types.h>

namespace heapwright::runner {

using Nanoseconds = std::int64_t;

inline constexpr Nanoseconds millisecond = 1'000'000;
inline constexpr Nanoseconds second = 1'000'000'000;

inline Nanoseconds toNs(const timespec& time) {
    return static_cast<Nanoseconds>(time.tv_sec) * second + time.tv_nsec;
}

inline Nanoseconds toNs(const timeval& time) {
    return static_cast<Nanoseconds>(time.tv_sec) * second + time.tv_usec * 1000;
}

inline Nanoseconds clockNs(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return toNs(now);
}

inline Nanoseconds nowNs() {
    return clockNs(CLOCK_MONOTONIC);
}

inline Nanoseconds ownCpuNs() {
    return clockNs(CLOCK_PROCESS_CPUTIME_ID);
}

/// The CPU time of one process without its children; nothing if there is no such process.
inline std::optional<Nanoseconds> cpuOf(pid_t pid) {
    clockid_t clock{};
    timespec used{};
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) {
        return std::nullopt;
    }
    return toNs(used);
}

inline double toSeconds(Nanoseconds time) {
    return static_cast<double>(time) / static_cast<double>(second);
}

} // namespace heapwright::runner
