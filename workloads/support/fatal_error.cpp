// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See fatal_error.hpp.
#include "fatal_error.hpp"

#include "write_all.hpp"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace heapwright::workloads {

namespace {

const char* name = "?";

/// Returns in one thread only. Other threads that fail at the same time wait for the exit.
void claimExit() {
    static std::atomic<bool> exiting{false};
    while (exiting.exchange(true)) {
        pause();
    }
}

[[noreturn]] void exitWith(Status status, const char* message) {
    char line[640];
    const int length = std::snprintf(line, sizeof line, "heapwright-%s: %s\n", name, message);
    writeAll(STDERR_FILENO, line, static_cast<std::size_t>(length));
    _exit(static_cast<int>(status));
}

} // namespace

void setProgramName(const char* program) {
    name = program;
}

const char* programName() {
    return name;
}

void noMemory(const char* what, std::size_t bytes) {
    claimExit();
    char message[512];
    std::snprintf(message, sizeof message, "no memory: %s (%zu bytes)", what, bytes);
    exitWith(Status::NoMemory, message);
}

void notStarted(const char* what, unsigned index, unsigned of, int error) {
    claimExit();
    char message[512];
    std::snprintf(message, sizeof message, "%s %u of %u could not be started: %s", what, index, of,
                  strerrordesc_np(error));
    exitWith(Status::NoMemory, message);
}

void notWritten() {
    claimExit();
    exitWith(Status::NoMemory, "the result could not be written");
}

void usageError(const char* what, const char* argument) {
    claimExit();
    char message[512];
    std::snprintf(message, sizeof message, "%s: %.200s\n  --help names the options", what,
                  argument);
    exitWith(Status::Usage, message);
}

void notVerified(const char* format, ...) {
    claimExit();
    char what[400];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    char message[512];
    std::snprintf(message, sizeof message, "verification failed: %s", what);
    char line[640];
    const int length =
        std::snprintf(line, sizeof line,
                      "{\"workload\":\"%s\",\"verified\":false,\"failure\":\"%s\"}\n", name, what);
    writeAll(STDOUT_FILENO, line, static_cast<std::size_t>(length));
    exitWith(Status::NotVerified, message);
}

} // namespace heapwright::workloads
