// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Ends a program that misused its heap: writes one line to standard error, without a buffer or an
// allocation, and aborts. The line contains no address, so that two runs print the same line.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace heapwright::platform {

/// Writes `heapwright: ROUTINE(): WHAT` and aborts.
/// Pre: both together are below 200 bytes.
[[noreturn, gnu::cold, gnu::noinline]] inline void
abortWithMessage(std::string_view routine, std::string_view what) noexcept {
    char line[256] = {};
    std::size_t length = 0;
    for (const std::string_view part : {std::string_view{"heapwright: "}, routine,
                                        std::string_view{"(): "}, what, std::string_view{"\n"}}) {
        for (const char c : part) {
            if (length < sizeof line) {
                line[length++] = c;
            }
        }
    }
    // One write call, so that lines of several threads do not mix. A failed write is ignored.
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line, length);
    std::abort();
}

/// Ends the program because the size or the alignment of a request was another.
[[noreturn, gnu::cold]] inline void refuseSize(std::string_view routine) noexcept {
    abortWithMessage(routine, "the size is not the object's");
}
[[noreturn, gnu::cold]] inline void refuseAlignment(std::string_view routine) noexcept {
    abortWithMessage(routine, "the alignment is not the object's");
}

} // namespace heapwright::platform
