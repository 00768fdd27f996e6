// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Probes whether memory can be read, without reading it. The system call that changes signal masks
// first copies the mask from user memory. It then fails, because the requested way of changing the
// mask does not exist. Sandboxes allow this call, because every program needs it.
#pragma once

#include <heapwright/platform/errno_keeper.hpp>

#include <cerrno>
#include <cstdint>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwright::recorder::stacks {

inline constexpr std::uint64_t smallestPage = 4096;

/// Whether the word at an address can be read; what is true of one word is true of its page. Pre:
/// the word does not lie across the end of a page. Cost: a call to the system.
[[nodiscard]] inline bool isReadable(std::uint64_t address) noexcept {
    constexpr long noSuchWay = -1;
    if (address < smallestPage) {
        return false; // null would mean that there is no mask
    }
    const platform::ErrnoKeeper keeper;
    const long result = ::syscall(SYS_rt_sigprocmask, noSuchWay, address, nullptr, 8L);
    return result == 0 || errno == EINVAL;
}

} // namespace heapwright::recorder::stacks
