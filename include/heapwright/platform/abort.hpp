// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The end of a program that misused its heap: one line on standard error, written without any
// buffer or allocation, then abort. The line holds no address, so that it can be compared.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace heapwright::platform {

/// Writes `heapwright: ROUTINE(): WHAT` and aborts. Pre: both together are below 200 bytes.
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
    // One write, so that lines of several threads do not mix; nothing to be done if it fails.
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line, length);
    std::abort();
}

} // namespace heapwright::platform
