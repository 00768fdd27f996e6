// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See options.hpp. Nothing here allocates.
#include "options.hpp"

#include "fatal_error.hpp"

#include <cstdlib>
#include <string_view>

namespace heapwright::replayer {

namespace {

Touch touchNamed(std::string_view name) {
    if (name == "none") {
        return Touch::none;
    }
    if (name == "first-byte") {
        return Touch::firstByte;
    }
    if (name == "all") {
        return Touch::all;
    }
    if (name == "as-recorded-size") {
        return Touch::recordedSize;
    }
    fatalError(Status::usage, "--touch takes none, first-byte, all or as-recorded-size");
}

std::size_t bytesIn(const char* text) {
    char* end = nullptr;
    const unsigned long long value = std::strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0') {
        fatalError(Status::usage, "--resident takes a number of bytes");
    }
    return value;
}

} // namespace

RunOptions readRunOptions(int argc, char** argv) {
    RunOptions options;
    for (int at = 0; at < argc; ++at) {
        const std::string_view word = argv[at];
        const auto value = [&] {
            if (at + 1 >= argc) {
                fatalError(Status::usage, "%s needs a value", argv[at]);
            }
            return argv[++at];
        };
        if (word == "--touch") {
            options.touch = touchNamed(value());
        } else if (word == "--check") {
            options.check = true;
        } else if (word == "--no-latencies") {
            options.latencies = false;
        } else if (word == "--curve") {
            options.curve = value();
        } else if (word == "--resident") {
            options.resident = bytesIn(value());
        } else if (word.starts_with("-") || options.plan != nullptr) {
            fatalError(Status::usage, "run: there is no such option: %.200s", argv[at]);
        } else {
            options.plan = argv[at];
        }
    }
    if (options.plan == nullptr) {
        fatalError(Status::usage, "run: it needs a plan");
    }
    return options;
}

} // namespace heapwright::replayer
