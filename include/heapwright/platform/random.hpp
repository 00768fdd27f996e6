// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A number that nobody can guess, from the system, for secrets and for the seeds of random choices.
// It works from the first malloc of a process on, allocates nothing and keeps errno. Cost: one
// system call; draw once and mix.
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

/// 64 random bits. Where the system has none to give (early in a boot, in a sandbox that forbids
/// the call), they come from the clock and from where the stack lies, which is better than nothing.
[[nodiscard, gnu::cold]] inline std::uint64_t randomBits() noexcept {
    const ErrnoKeeper keeper;
    std::uint64_t bits = 0;
    // Not by the C library's function, at which a thread can be cancelled: malloc and free may not.
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
