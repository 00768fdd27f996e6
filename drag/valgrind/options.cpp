// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the command line of heapwright-drag; everything after `--` is the command.
#include "drag/valgrind/options.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>

namespace heapwright::drag {

namespace {

constexpr char usage[] =
    "usage: heapwright-drag --result-fd N [--seconds S] [--calls N] -- COMMAND ARGUMENT...\n"
    "       heapwright-drag --result-fd N --trace FILE\n"
    "Runs the command under valgrind and writes one JSON object to the descriptor N: how long its\n"
    "memory is held after its last use. The marks (libheapwright-drag-marks.so) must be preloaded\n"
    "into the command. The second form reads a log that is there already.\n";

std::optional<double> positive(const char* text) {
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    return end != text && *end == '\0' && value > 0 && value < 1e9 ? std::optional(value)
                                                                   : std::nullopt;
}

bool setOption(Options& options, const char* name, const char* value) {
    if (std::strcmp(name, "--trace") == 0) {
        options.trace = value;
        return true;
    }
    const std::optional<double> number = positive(value);
    if (!number) {
        return false;
    }
    if (std::strcmp(name, "--result-fd") == 0) {
        options.resultFd = *number < 1e6 ? static_cast<int>(*number) : -1;
        return fcntl(options.resultFd, F_GETFD) >= 0;
    }
    if (std::strcmp(name, "--seconds") == 0) {
        options.seconds = *number;
        return true;
    }
    if (std::strcmp(name, "--calls") == 0 && *number >= 2 && *number <= 100) {
        options.calls = static_cast<int>(*number);
        return true;
    }
    return false;
}

} // namespace

std::optional<Options> parseOptions(int count, char** arguments) {
    Options options;
    int at = 1;
    for (; at < count && std::strcmp(arguments[at], "--") != 0; at += 2) {
        const char* const value = at + 1 < count ? arguments[at + 1] : "";
        if (at + 1 >= count || !setOption(options, arguments[at], value)) {
            std::fprintf(stderr, "heapwright-drag: cannot use %s %s\n%s", arguments[at], value,
                         usage);
            return std::nullopt;
        }
    }
    if (at + 1 < count) {
        options.command = arguments + at + 1;
    }
    if (options.resultFd < 0 || (options.trace == nullptr) == (options.command == nullptr)) {
        std::fprintf(stderr, "heapwright-drag: %s\n%s",
                     options.resultFd < 0 ? "no --result-fd" : "one command or one log, please",
                     usage);
        return std::nullopt;
    }
    return options;
}

} // namespace heapwright::drag
