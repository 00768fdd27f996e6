// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See fatal_error.hpp.
#include "fatal_error.hpp"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace heapwright::replayer {

namespace {

bool put(int descriptor, const char* text, std::size_t length) {
    while (length > 0) {
        const ssize_t written = ::write(descriptor, text, length);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        text += written;
        length -= static_cast<std::size_t>(written);
    }
    return true;
}

} // namespace

void fatalError(Status status, const char* format, ...) {
    static std::atomic<bool> exiting{false};
    while (exiting.exchange(true)) {
        ::pause(); // another thread is about to end the process
    }
    char what[500];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    char line[540];
    std::snprintf(line, sizeof line, "heapwright-replay: %s\n", what);
    put(STDERR_FILENO, line, std::strlen(line));
    ::_exit(static_cast<int>(status));
}

void writeAll(int descriptor, const char* text, std::size_t length) {
    if (!put(descriptor, text, length)) {
        fatalError(Status::noMemory, "the result could not be written: %s", strerrordesc_np(errno));
    }
}

} // namespace heapwright::replayer
