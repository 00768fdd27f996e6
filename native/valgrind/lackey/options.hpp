// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The command lines of the programs that read the tracer's log: the common options, and a function
// for those of one program.
#pragma once

#include <functional>
#include <string_view>

namespace heapwright::valgrind {

struct LogOptions {
    int resultFd = -1;
    double seconds = 0;          ///< 0: no limit
    const char* trace = nullptr; ///< an existing log instead of a command
    char** command = nullptr;
};

struct ProgramText {
    const char* name;
    const char* usage;
};

/// Handles an option of one program, with its number, which is positive. Returns false if the
/// option is unknown or the number invalid.
using OwnOption = std::function<bool(std::string_view name, double number)>;

/// Returns false, after a message on standard error, if the command line is invalid.
bool parseOptions(int count, char** arguments, const ProgramText& program, LogOptions& options,
                  const OwnOption& own);

} // namespace heapwright::valgrind
