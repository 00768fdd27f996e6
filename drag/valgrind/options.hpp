// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of heapwright-drag.
#pragma once

#include <optional>

namespace heapwright::drag {

struct Options {
    int resultFd = -1;
    double seconds = 0;          ///< 0: as long as it takes
    int calls = 12;              ///< that are kept of a chain
    const char* trace = nullptr; ///< a log that is there already, instead of a command
    char** command = nullptr;
};

/// Nothing, and a line on standard error that says why, when the command line is wrong.
std::optional<Options> parseOptions(int count, char** arguments);

} // namespace heapwright::drag
