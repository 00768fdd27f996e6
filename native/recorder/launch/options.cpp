// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See options.hpp.
#include "options.hpp"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <getopt.h>

namespace heapwright::recorder::launch {

namespace {

constexpr char usage[] =
    "usage: heapwright-record --trace FILE [--preload LIBRARIES] [--result-fd N] [--sample N]\n"
    "                         [--salt N] [--limit BYTES] [--control FILE] [--toggle-signal N]\n"
    "                         [--mark-signal N] [--stacks] [--witness FILE] [--settings LINES]\n"
    "                         [--follow-children] [--paused] [--no-system] [--bound] -- "
    "COMMAND ARGUMENT...\n";

const option longOptions[] = {{"trace", required_argument, nullptr, 't'},
                              {"preload", required_argument, nullptr, 'd'},
                              {"result-fd", required_argument, nullptr, 'r'},
                              {"sample", required_argument, nullptr, 's'},
                              {"salt", required_argument, nullptr, 'x'},
                              {"limit", required_argument, nullptr, 'l'},
                              {"witness", required_argument, nullptr, 'w'},
                              {"settings", required_argument, nullptr, 'e'},
                              {"control", required_argument, nullptr, 'c'},
                              {"toggle-signal", required_argument, nullptr, 'g'},
                              {"mark-signal", required_argument, nullptr, 'm'},
                              {"stacks", no_argument, nullptr, 'k'},
                              {"follow-children", no_argument, nullptr, 'f'},
                              {"paused", no_argument, nullptr, 'p'},
                              {"no-system", no_argument, nullptr, 'n'},
                              {"bound", no_argument, nullptr, 'b'},
                              {nullptr, 0, nullptr, 0}};

template <class Number>
bool read(const char* text, Number& number) {
    const char* const end = text + std::strlen(text);
    const auto result = std::from_chars(text, end, number);
    return result.ec == std::errc{} && result.ptr == end;
}

/// False if the value is wrong.
bool take(int letter, Options& options) {
    switch (letter) {
    case 't':
        options.trace = optarg;
        return true;
    case 'd':
        options.preload = optarg;
        return true;
    case 'w':
        options.witness = optarg;
        return true;
    case 'e':
        options.settings = optarg;
        return true;
    case 'c':
        options.control = optarg;
        return true;
    case 'r':
        return read(optarg, options.resultFd);
    case 's':
        return read(optarg, options.sample);
    case 'x':
        return read(optarg, options.salt);
    case 'l':
        return read(optarg, options.limit);
    case 'g':
        return read(optarg, options.toggleSignal);
    case 'm':
        return read(optarg, options.markSignal);
    case 'k':
        return options.stacks = true;
    case 'f':
        return options.follow = true;
    case 'p':
        return options.paused = true;
    case 'b':
        return options.bound = true;
    case 'n':
        options.watch = false;
        return true;
    default:
        return false;
    }
}

} // namespace

std::optional<Options> parseOptions(int count, char** arguments) {
    Options options;
    for (;;) {
        const int letter = getopt_long(count, arguments, "+", longOptions, nullptr);
        if (letter == -1) {
            break;
        }
        if (!take(letter, options)) {
            std::fputs(usage, stderr);
            return std::nullopt;
        }
    }
    options.command = arguments + optind;
    if (options.trace == nullptr || *options.command == nullptr) {
        std::fputs(usage, stderr);
        return std::nullopt;
    }
    return options;
}

} // namespace heapwright::recorder::launch
