// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Unpredictable numbers from the system, for secrets and for the seeds of random choices. Works
// from the first malloc of a process. Allocates nothing and keeps errno.
// Cost: one system call. Draw once and mix.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/errno_keeper.hpp>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwright::platform {

/// 64 random bits. If the system has none, they come from the clock and the address of the stack.
/// This happens early in a boot, or in a sandbox that forbids the call. Those are predictable to
/// some degree.
[[nodiscard, gnu::cold]] inline std::uint64_t randomBits() noexcept {
    const ErrnoKeeper keeper;
    std::uint64_t bits = 0;
    // A direct system call: the C library's function is a cancellation point, and malloc and free
    // must not be one.
    if (::syscall(SYS_getrandom, &bits, sizeof bits, GRND_NONBLOCK) == sizeof bits) {
        return bits;
    }
    struct timespec now = {};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    bits =
        static_cast<std::uint64_t>(now.tv_nsec) ^ (static_cast<std::uint64_t>(now.tv_sec) << 32U);
    return (bits ^ addressOf(&now)) * 0x9E3779B97F4A7C15U;
}

} // namespace heapwright::platform
