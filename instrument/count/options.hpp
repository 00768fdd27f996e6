// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of heapwright-count.
#pragma once

#include <cstdint>
#include <optional>

namespace heapwright::instrument {

struct Options {
    int resultFd = -1;
    double seconds = 120;
    std::uint64_t traceBytes = std::uint64_t{4} << 30;
    const char* trace = nullptr; ///< a log that is there already, instead of a command
    char** command = nullptr;
};

/// Nothing, and a line on standard error that says why, when the command line is wrong.
std::optional<Options> parseOptions(int count, char** arguments);

} // namespace heapwright::instrument
