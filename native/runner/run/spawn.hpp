// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Starts the command, in a session of its own, as a child that shares this program's memory until
// it executes (vfork). The kernel includes the peak of the executing image in the new program's
// peak. Therefore this small program executes it, before it has allocated memory.
#pragma once

#include "options.hpp"

#include <sys/types.h>

namespace heapwright::runner {

struct Spawned {
    pid_t pid = -1;  ///< -1: the start failed
    int handle = -1; ///< pidfd, readable after the process has ended; -1 if the kernel has none
    int errors = -1; ///< reads its standard error, without blocking
    Nanoseconds startNs = 0;
    const char* step = nullptr; ///< the step that failed, with the reason in `error`
    int error = 0;
};

/// The command starts with `mask`.
/// Pre: all signals are blocked.
Spawned spawn(const Options& options, const sigset_t& mask);

} // namespace heapwright::runner
