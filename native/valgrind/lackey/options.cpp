// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The command follows `--`. Each option before it has a value.
#include "options.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>

namespace heapwright::valgrind {

namespace {

std::optional<double> positive(const char* text) {
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    return end != text && *end == '\0' && value > 0 && value < 1e15 ? std::optional(value)
                                                                    : std::nullopt;
}

bool setOption(LogOptions& options, std::string_view name, const char* value,
               const OwnOption& own) {
    if (name == "--trace") {
        options.trace = value;
        return true;
    }
    const std::optional<double> number = positive(value);
    if (!number) {
        return false;
    }
    if (name == "--result-fd") {
        options.resultFd = *number < 1e6 ? static_cast<int>(*number) : -1;
        return fcntl(options.resultFd, F_GETFD) >= 0;
    }
    if (name == "--seconds") {
        options.seconds = *number;
        return true;
    }
    return own(name, *number);
}

} // namespace

bool parseOptions(int count, char** arguments, const ProgramText& program, LogOptions& options,
                  const OwnOption& own) {
    int at = 1;
    for (; at < count && std::strcmp(arguments[at], "--") != 0; at += 2) {
        const char* const value = at + 1 < count ? arguments[at + 1] : "";
        if (at + 1 >= count || !setOption(options, arguments[at], value, own)) {
            std::fprintf(stderr, "%s: cannot use %s %s\n%s", program.name, arguments[at], value,
                         program.usage);
            return false;
        }
    }
    if (at + 1 < count) {
        options.command = arguments + at + 1;
    }
    if (options.resultFd < 0 || (options.trace == nullptr) == (options.command == nullptr)) {
        std::fprintf(stderr, "%s: %s\n%s", program.name,
                     options.resultFd < 0 ? "no --result-fd" : "one command or one log, please",
                     program.usage);
        return false;
    }
    return true;
}

} // namespace heapwright::valgrind
