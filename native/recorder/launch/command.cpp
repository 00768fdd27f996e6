// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See command.hpp.
#include "command.hpp"

#include "recording.hpp"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heapwright::recorder::launch {

Command::Command(const Options& options, const sigset_t& mask) {
    if (options.follow) {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    }
    char* const path = ::realpath(options.trace, nullptr); // it may change its folder
    ::setenv(recorder::traceVariable, path != nullptr ? path : options.trace, 1);
    std::free(path);
    if (options.preload != nullptr) {
        ::setenv("LD_PRELOAD", options.preload, 1);
    }
    if (options.toggleSignal > 0) {
        ::setenv(recorder::signalVariable, std::to_string(options.toggleSignal).c_str(), 1);
    }
    if (options.markSignal > 0) {
        ::setenv(recorder::markSignalVariable, std::to_string(options.markSignal).c_str(), 1);
    }
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    ::posix_spawnattr_setsigmask(&attributes, &mask);
    ending_.spawnError =
        ::posix_spawnp(&pid_, options.command[0], nullptr, &attributes, options.command, environ);
    ::posix_spawnattr_destroy(&attributes);
    running_ = ending_.spawnError == 0;
}

void Command::send(int signal) const {
    if (running_) {
        ::kill(pid_, signal);
    }
}

void Command::abandon() const {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    send(SIGTERM);
}

void Command::killChildren() {
    std::ifstream children("/proc/thread-self/children");
    for (pid_t child = 0; children >> child;) {
        ::kill(child, SIGKILL);
    }
}

bool Command::reap(Accounting& accounting) {
    for (;;) {
        siginfo_t dead{};
        if (::waitid(P_ALL, 0, &dead, WEXITED | WNOHANG | WNOWAIT) != 0) {
            return errno != ECHILD;
        }
        if (dead.si_pid == 0) {
            return true;
        }
        accounting.noteDeath(dead.si_pid);
        int status = 0;
        if (::waitpid(dead.si_pid, &status, 0) != dead.si_pid) {
            continue;
        }
        if (dead.si_pid == pid_) {
            running_ = false;
            ending_.exitStatus = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
            ending_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        }
    }
}

} // namespace heapwright::recorder::launch
