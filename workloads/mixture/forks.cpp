// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See forks.hpp. An alarm ends a child that does not end: a lock that stays taken must not block
// the whole run.
#include "forks.hpp"

#include "support/bump.hpp"
#include "support/fatal_error.hpp"
#include "support/observers.hpp"

#include <cerrno>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace heapwright::workloads {

namespace {

constexpr unsigned patience = 120; ///< seconds

} // namespace

void inChildProcess(void (*work)(void*), void* context) {
    lockObservers();
    holdBump();
    const pid_t child = fork();
    const int error = errno;
    releaseBump();
    unlockObservers();
    if (child < 0) {
        notStarted("process", 1, 1, error);
    }
    if (child == 0) {
        std::signal(SIGALRM, SIG_DFL);
        alarm(patience);
        work(context);
        _exit(static_cast<int>(Status::Fine));
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        notVerified(signal == SIGALRM ? "a forked child did not end (signal %d)"
                                      : "a forked child died of signal %d",
                    signal);
    }
    if (WEXITSTATUS(status) != 0) {
        _exit(WEXITSTATUS(status)); // the child has printed the reason
    }
}

} // namespace heapwright::workloads
