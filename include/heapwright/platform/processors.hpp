// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How many processors this process may run on.
#pragma once

#include <heapwright/platform/errno_keeper.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwright::platform {

/// The number of processors that the process could run on when it first asked, 1 at least. Keeps
/// errno, allocates nothing. Cost: a load, after the first time.
[[nodiscard]] inline std::size_t processors() noexcept {
    static constinit std::atomic<std::size_t> known{0};
    std::size_t number = known.load(std::memory_order_relaxed);
    if (number == 0) [[unlikely]] {
        const ErrnoKeeper keeper;
        std::array<std::uint64_t, 1024 / 8> mask{}; // 8,192 processors
        const long bytes = ::syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask.data());
        if (bytes > 0) {
            for (const std::uint64_t word : mask) {
                number += static_cast<std::size_t>(__builtin_popcountll(word));
            }
        }
        number = number == 0 ? 1 : number;
        known.store(number, std::memory_order_relaxed);
    }
    return number;
}

} // namespace heapwright::platform
