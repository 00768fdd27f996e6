// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The number of processors, and the processor that a thread runs on. The environment variable
// HEAPWRIGHT_PROCESSORS, a number from 1 to 8192, replaces the number of processors. It serves to
// study the behaviour of a larger machine on a smaller one. Other values are ignored.
#pragma once

#include <heapwright/platform/errno_keeper.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwright::platform {

inline constexpr std::size_t mostProcessors = 8192;

/// The number that a text contains, if it is from 1 to `mostProcessors`; otherwise, or without a
/// text, 0.
[[nodiscard]] inline std::size_t processorsIn(const char* text) noexcept {
    std::size_t number = 0;
    for (; text != nullptr && *text >= '0' && *text <= '9' && number <= mostProcessors; ++text) {
        number = number * 10 + static_cast<std::size_t>(*text - '0');
    }
    return text != nullptr && *text == 0 && number <= mostProcessors ? number : 0;
}

/// The number of processors that the environment names. Without it, the number that the process
/// could run on at the first call, at least 1. Keeps errno and allocates nothing.
/// Cost: one load, after the first call.
[[nodiscard]] inline std::size_t processors() noexcept {
    static constinit std::atomic<std::size_t> known{0};
    std::size_t number = known.load(std::memory_order_relaxed);
    if (number == 0) [[unlikely]] {
        const ErrnoKeeper keeper;
        number = processorsIn(::secure_getenv("HEAPWRIGHT_PROCESSORS"));
        std::array<std::uint64_t, mostProcessors / 64> mask{};
        if (number == 0 && ::syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask.data()) > 0) {
            for (const std::uint64_t word : mask) {
                number += static_cast<std::size_t>(__builtin_popcountll(word));
            }
        }
        number = number == 0 ? 1 : number;
        known.store(number, std::memory_order_relaxed);
    }
    return number;
}

/// The processor that the calling thread runs on. It may have changed when the caller reads the
/// result. The result is 0 if the system does not report the processor. Keeps errno.
[[nodiscard]] inline std::size_t currentProcessor() noexcept {
    const ErrnoKeeper keeper;
    const int number = ::sched_getcpu();
    return number < 0 ? 0 : static_cast<std::size_t>(number);
}

} // namespace heapwright::platform
