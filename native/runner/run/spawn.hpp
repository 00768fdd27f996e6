// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Starts the command, in a session of its own, as a child that shares this program's memory until
// it executes (vfork). The kernel carries the peak of the image that executes into the new
// program's peak; that image is therefore this small one, before it has allocated anything.
#pragma once

#include "options.hpp"

#include <sys/types.h>

namespace heapwright::runner {

struct Spawned {
    pid_t pid = -1;  ///< -1: nothing was started
    int handle = -1; ///< pidfd, readable once the process is dead; -1 if the kernel has none
    int errors = -1; ///< where its standard error can be read, without blocking
    Nanoseconds startNs = 0;
    const char* step = nullptr; ///< what failed, with the reason in `error`
    int error = 0;
};

/// All signals must be blocked; the command starts with `mask`.
Spawned spawn(const Options& options, const sigset_t& mask);

} // namespace heapwright::runner
