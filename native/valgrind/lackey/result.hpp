// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the programs that read the tracer's log share. It is the handling of signals, the exit
// status of the command, a log that exists already, and the output of the result.
#pragma once

#include "child.hpp"
#include "log_reader.hpp"
#include "options.hpp"

#include <heapwright/core/json.hpp>

#include <csignal>

namespace heapwright::valgrind {

/// Set by the handler of SIGINT, SIGTERM and SIGHUP.
extern volatile std::sig_atomic_t interrupted;

/// Installs that handler, ignores SIGPIPE, and keeps the result's descriptor from the command.
void prepareProcess(const LogOptions& options);

/// Writes the result. Returns the exit status of the program.
int writeResult(const ProgramText& program, const LogOptions& options, const Json& json);

/// The fields `exit_status` and `signal`. Both are null if the command did not end by itself.
void writeStatus(Json& json, const Child& child, bool endedByItself);

/// Opens the log of `--trace`. Prints the reason on failure and returns -1.
int openLog(const ProgramText& program, const LogOptions& options);

/// Reads all lines of the log of `--trace`. Returns false if it cannot be opened.
template <typename Taker>
bool readLog(const ProgramText& program, const LogOptions& options, Taker& taker) {
    const int log = openLog(program, options);
    if (log < 0) {
        return false;
    }
    Reader reader(log);
    while (reader.readSome(taker)) {
    }
    close(log);
    return true;
}

} // namespace heapwright::valgrind
