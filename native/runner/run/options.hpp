// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of heapwright-run.
#pragma once

#include "clock.hpp"

#include <optional>
#include <sched.h>

namespace heapwright::runner {

struct Options {
    int resultFd = -1;
    Nanoseconds timeout = 0; ///< 0 = none
    Nanoseconds grace = 5 * second;
    Nanoseconds interval = 10 * millisecond;
    std::optional<cpu_set_t> cpus;
    const char* folder = nullptr; ///< null: the present folder
    const char* input = "/dev/null";
    const char* output = "/dev/null";
    const char* witness = nullptr;
    bool counters = false;
    char** command = nullptr;
};

/// Returns nothing, after a message on standard error, if the command line is invalid.
std::optional<Options> parseOptions(int count, char** arguments);

} // namespace heapwright::runner
