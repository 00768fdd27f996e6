// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Starts valgrind and ends it.
#include "child.hpp"

#include "tool.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace heapwright::valgrind {

namespace {

/// Replaces this process; returns only on failure.
void execute(int log, const char* option, char** command) {
    static const char* const fixed[] = {
        "valgrind", "--tool=lackey", "--trace-mem=yes", "--basic-counts=no",
        // Reports the running thread and newly mapped memory.
        "--trace-sched=yes", "--trace-syscalls=yes", "--fair-sched=try",
        // Processes that the command starts are not traced and do not write into this log.
        "--trace-children=no", "--child-silent-after-fork=yes",
        // No debugger is used, and no pipes for it are left behind.
        "--vgdb=no",
        // Ignores options from files and variables.
        "--command-line-only=yes"};
    std::vector<char*> arguments;
    for (const char* const each : fixed) {
        arguments.push_back(const_cast<char*>(each));
    }
    if (option != nullptr) {
        arguments.push_back(const_cast<char*>(option));
    }
    std::string descriptor = "--log-fd=" + std::to_string(log);
    arguments.push_back(descriptor.data());
    for (; *command != nullptr; ++command) {
        arguments.push_back(*command);
    }
    arguments.push_back(nullptr);
    const Tool tool = findTool();
    setenv("VALGRIND_LAUNCHER", tool.launcher.c_str(), 1); // as the launcher would set it
    execv(tool.program.c_str(), arguments.data());
}

/// A program that dies under valgrind would leave a core file of valgrind's.
void leaveNoCore() {
    rlimit limit{};
    if (getrlimit(RLIMIT_CORE, &limit) == 0) {
        limit.rlim_cur = 0;
        setrlimit(RLIMIT_CORE, &limit);
    }
}

} // namespace

Child::~Child() {
    end();
    if (log_ >= 0) {
        close(log_);
    }
}

bool Child::start(char** command, const char* option, std::string& reason) {
    int log[2];
    int trouble[2]; // closed by a successful exec; otherwise it carries the reason
    if (pipe2(log, O_CLOEXEC) != 0 || pipe2(trouble, O_CLOEXEC) != 0) {
        reason = std::strerror(errno);
        return false;
    }
    // As large as possible, so that the two sides wait less for each other.
    fcntl(log[0], F_SETPIPE_SZ, 1 << 20);
    const pid_t parent = getpid();
    apart_ = isatty(STDIN_FILENO) == 0;
    pid_ = fork();
    if (pid_ == 0) {
        if (apart_) {
            setpgid(0, 0);
        }
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        leaveNoCore();
        if (getppid() == parent && fcntl(log[1], F_SETFD, 0) == 0) {
            execute(log[1], option, command);
        }
        const int error = errno;
        const ssize_t told = write(trouble[1], &error, sizeof error);
        _exit(told == sizeof error ? 127 : 126);
    }
    const int forkError = errno;
    close(log[1]);
    close(trouble[1]);
    log_ = log[0];
    int error = pid_ < 0 ? forkError : 0;
    if (pid_ > 0) {
        if (apart_) {
            setpgid(pid_, pid_);
        }
        while (read(trouble[0], &error, sizeof error) < 0 && errno == EINTR) {
        }
    }
    close(trouble[0]);
    if (error != 0) {
        reason = std::strerror(error);
    }
    return error == 0;
}

bool Child::ended() {
    ended_ = ended_ || (pid_ > 0 && waitpid(pid_, &status_, WNOHANG) == pid_);
    return ended_;
}

void Child::end() {
    if (pid_ <= 0) {
        return;
    }
    // Its remaining processes are in its group. The group's number stays reserved while any of them
    // lives.
    if (apart_ || !ended_) {
        kill(apart_ ? -pid_ : pid_, SIGKILL);
    }
    while (!ended_ && waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    ended_ = true;
    pid_ = -1;
}

} // namespace heapwright::valgrind
