// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The recorded command as a child process. It keeps the launcher's streams, folder and terminal.
// Recording changes only its environment.
#pragma once

#include "accounting.hpp"
#include "options.hpp"

#include <csignal>
#include <string>
#include <sys/types.h>

namespace heapwright::recorder::launch {

/// How it went.
struct Ending {
    int exitStatus = -1; ///< -1: it was not by exit
    int signal = 0;      ///< 0: not by a signal
    int spawnError = 0;  ///< errno, when it could not be started
};

class Command {
public:
    /// Starts it with the signals blocked as `mask` says.
    Command(const Options& options, const sigset_t& mask);

    bool isRunning() const { return running_; }
    const Ending& ending() const { return ending_; }

    /// Passes a signal on, if it is running.
    void send(int signal) const;

    /// Stops waiting: asks the command to end, and adopts the processes that it leaves behind.
    void abandon() const;

    /// Kills all children of the launcher at once.
    static void killChildren();

    pid_t pid() const { return pid_; }

    /// Waits for the dead, each of which is accounted for first; whether any child is left. Orphans
    /// are children, too, where they are followed, and once it is abandoned.
    bool reap(Accounting& accounting);

private:
    pid_t pid_ = -1;
    bool running_ = false;
    Ending ending_;
};

} // namespace heapwright::recorder::launch
