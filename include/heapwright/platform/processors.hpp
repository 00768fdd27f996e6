// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How many processors this process may run on, or is to take for granted: HEAPWRIGHT_PROCESSORS in
// the environment, a number from 1 to 8192, says so, for what shall be seen of a larger machine on
// a smaller one. What is no such number counts for nothing. And on which one a thread runs.
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

/// The number that a text is, if that is from 1 to `mostProcessors`; otherwise, or if there is no
/// text, 0.
[[nodiscard]] inline std::size_t processorsIn(const char* text) noexcept {
    std::size_t number = 0;
    for (; text != nullptr && *text >= '0' && *text <= '9' && number <= mostProcessors; ++text) {
        number = number * 10 + static_cast<std::size_t>(*text - '0');
    }
    return text != nullptr && *text == 0 && number <= mostProcessors ? number : 0;
}

/// The number of processors that the environment names, or that the process could run on when it
/// first asked, 1 at least. Keeps errno, allocates nothing. Cost: a load, after the first time.
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

/// The number of the processor that the calling thread runs on, which may have changed when it is
/// read; 0 where the system does not say. Keeps errno.
[[nodiscard]] inline std::size_t currentProcessor() noexcept {
    const ErrnoKeeper keeper;
    const int number = ::sched_getcpu();
    return number < 0 ? 0 : static_cast<std::size_t>(number);
}

} // namespace heapwright::platform
