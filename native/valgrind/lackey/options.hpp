// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The command lines of the programs that read the tracer's log: what all of them are told, and an
// opening for what only one is.
#pragma once

#include <functional>
#include <string_view>

namespace heapwright::valgrind {

struct LogOptions {
    int resultFd = -1;
    double seconds = 0;          ///< 0: as long as it takes
    const char* trace = nullptr; ///< a log that is there already, instead of a command
    char** command = nullptr;
};

struct ProgramText {
    const char* name;
    const char* usage;
};

/// An option of one program, with its number, which is positive; false if it is none, or will not
/// do.
using OwnOption = std::function<bool(std::string_view name, double number)>;

/// False, and a line on standard error that says why, when the command line is wrong.
bool parseOptions(int count, char** arguments, const ProgramText& program, LogOptions& options,
                  const OwnOption& own);

} // namespace heapwright::valgrind
