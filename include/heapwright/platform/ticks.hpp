// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Time for the cost of one instruction: the processor's counter. It has a fixed rate on processors
// that report so (`steadyTicks`). On other processors, use the system's clock. Neither allocates or
// changes errno.
#pragma once

#include <cstdint>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace heapwright::platform {

/// The counter. It is not ordered with the surrounding instructions. The error is a few
/// nanoseconds, less than a call takes.
[[nodiscard]] inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t count = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#else
    return 0;
#endif
}

/// Whether the counter has a constant rate at any clock frequency and also runs during sleep
/// states.
[[nodiscard]] inline bool steadyTicks() noexcept {
#if defined(__x86_64__)
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    constexpr unsigned powerManagement = 0x80000007;
    constexpr unsigned invariant = 1U << 8;
    return __get_cpuid(powerManagement, &a, &b, &c, &d) != 0 && (d & invariant) != 0;
#elif defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

/// The time of one of the system's clocks, in nanoseconds.
[[nodiscard]] inline std::uint64_t clockNanoseconds(::clockid_t clock) noexcept {
    constexpr std::uint64_t perSecond = 1'000'000'000;
    struct timespec now = {};
    ::clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * perSecond +
           static_cast<std::uint64_t>(now.tv_nsec);
}

/// Milliseconds since an arbitrary moment, modulo 2^32, up to some milliseconds late.
/// Cost: a few loads.
[[nodiscard]] inline std::uint32_t coarseMilliseconds() noexcept {
    return static_cast<std::uint32_t>(clockNanoseconds(CLOCK_MONOTONIC_COARSE) / 1'000'000);
}

} // namespace heapwright::platform
