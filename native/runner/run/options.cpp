// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Parses the command line of heapwright-run. The command follows `--`.
#include "options.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>

namespace heapwright::runner {

namespace {

constexpr char usage[] =
    "usage: heapwright-run --result-fd N [--timeout S] [--grace S] [--interval-ms M]\n"
    "         [--cpus LIST] [--cwd FOLDER] [--stdin FILE] [--stdout FILE] [--witness FILE]\n"
    "         [--counters] -- COMMAND ARGUMENT...\n"
    "Runs the command and writes one JSON object about it to the descriptor N.\n";

std::optional<double> number(const char* text) {
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    // Below a century, so that no sum of times overflows.
    return end != text && *end == '\0' && value >= 0 && value < 3e9 ? std::optional(value)
                                                                    : std::nullopt;
}

/// Parses a list in the kernel's format: 0,2-5.
std::optional<cpu_set_t> cpuList(const char* text) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    for (;;) {
        char* end = nullptr;
        const unsigned long first = std::strtoul(text, &end, 10);
        if (end == text || *text < '0' || *text > '9') {
            return std::nullopt;
        }
        unsigned long last = first;
        if (*end == '-') {
            text = end + 1;
            last = std::strtoul(text, &end, 10);
            if (end == text || *text < '0' || *text > '9') {
                return std::nullopt;
            }
        }
        if (last < first || last >= CPU_SETSIZE) {
            return std::nullopt;
        }
        for (unsigned long cpu = first; cpu <= last; ++cpu) {
            CPU_SET(cpu, &cpus);
        }
        if (*end == '\0') {
            return cpus;
        }
        if (*end != ',') {
            return std::nullopt;
        }
        text = end + 1;
    }
}

bool setTime(Nanoseconds& time, const char* text, Nanoseconds unit) {
    const auto value = number(text);
    if (value) {
        time = static_cast<Nanoseconds>(*value * static_cast<double>(unit));
    }
    return value.has_value();
}

bool setDescriptor(int& descriptor, const char* text) {
    const auto value = number(text);
    if (!value || *value > 1e6) {
        return false;
    }
    descriptor = static_cast<int>(*value);
    return fcntl(descriptor, F_GETFD) >= 0;
}

/// Returns false if the option is unknown or its value is invalid.
bool setOption(Options& options, const char* name, const char* value) {
    const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
    if (is("--result-fd")) {
        return setDescriptor(options.resultFd, value);
    }
    if (is("--timeout")) {
        return setTime(options.timeout, value, second);
    }
    if (is("--grace")) {
        return setTime(options.grace, value, second);
    }
    if (is("--interval-ms")) {
        return setTime(options.interval, value, millisecond) && options.interval > 0;
    }
    if (is("--cpus")) {
        options.cpus = cpuList(value);
        return options.cpus.has_value();
    }
    const struct {
        const char* name;
        const char** place;
    } texts[] = {{"--cwd", &options.folder},
                 {"--stdin", &options.input},
                 {"--stdout", &options.output},
                 {"--witness", &options.witness}};
    for (const auto& text : texts) {
        if (is(text.name)) {
            *text.place = value;
            return true;
        }
    }
    return false;
}

} // namespace

std::optional<Options> parseOptions(int count, char** arguments) {
    Options options;
    int at = 1;
    while (at < count && std::strcmp(arguments[at], "--") != 0) {
        if (std::strcmp(arguments[at], "--counters") == 0) {
            options.counters = true;
            ++at;
            continue;
        }
        if (at + 1 >= count || !setOption(options, arguments[at], arguments[at + 1])) {
            std::fprintf(stderr, "heapwright-run: cannot use %s%s%s\n%s", arguments[at],
                         at + 1 < count ? " " : "", at + 1 < count ? arguments[at + 1] : "", usage);
            return std::nullopt;
        }
        at += 2;
    }
    if (options.resultFd < 0 || at + 1 >= count) {
        std::fprintf(stderr, "heapwright-run: %s\n%s",
                     options.resultFd < 0 ? "no --result-fd" : "no command", usage);
        return std::nullopt;
    }
    options.command = arguments + at + 1;
    return options;
}

} // namespace heapwright::runner
