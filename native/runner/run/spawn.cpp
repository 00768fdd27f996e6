// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Between vfork and exec, the child makes only system calls and writes only `failure`.
#include "spawn.hpp"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace heapwright::runner {

namespace {

/// The paths of the command to try, in order: its path, or the folders of PATH.
std::vector<std::string> candidates(const char* name) {
    if (std::strchr(name, '/') != nullptr || *name == '\0') {
        return {name};
    }
    const char* const search = std::getenv("PATH");
    std::vector<std::string> paths;
    const std::string all = search != nullptr ? search : "/usr/local/bin:/usr/bin:/bin";
    for (std::size_t at = 0;;) {
        const std::size_t end = all.find(':', at);
        const std::string folder = all.substr(at, end == std::string::npos ? end : end - at);
        paths.push_back((folder.empty() ? "." : folder) + "/" + name);
        if (end == std::string::npos) {
            return paths;
        }
        at = end + 1;
    }
}

struct Failure {
    const char* step;
    int error;
};

struct Plan {
    const Options& options;
    const sigset_t& mask;
    const struct sigaction& childAction;
    int input, output, errors;
    const std::vector<std::string>& paths;
};

/// Runs in the child. Returns only if the command could not be executed.
void become(const Plan& plan, volatile Failure& failure) {
    const auto failed = [&failure](const char* step) {
        failure.step = step;
        failure.error = errno;
    };
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const Options& options = plan.options;
    if (options.cpus && sched_setaffinity(0, sizeof *options.cpus, &*options.cpus) != 0) {
        return failed("cannot run on the requested processors");
    }
    if (options.folder != nullptr && chdir(options.folder) != 0) {
        return failed("cannot change to the folder");
    }
    if (dup2(plan.input, 0) < 0 || dup2(plan.output, 1) < 0 || dup2(plan.errors, 2) < 0) {
        return failed("cannot set up the standard streams");
    }
    sigaction(SIGCHLD, &plan.childAction, nullptr);
    sigprocmask(SIG_SETMASK, &plan.mask, nullptr);
    int error = ENOENT;
    for (const std::string& path : plan.paths) {
        execve(path.c_str(), options.command, environ);
        // As in a shell, the error for a file that exists but cannot be executed replaces the one
        // for a missing file.
        if (errno != ENOENT && errno != ENOTDIR && error != EACCES) {
            error = errno;
        }
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) {
            break;
        }
    }
    errno = error;
    failed("cannot execute the command");
}

/// The only function that returns twice. None of its own variables change between the two returns.
[[gnu::noinline]] pid_t start(const Plan& plan, volatile Failure& failure) {
    const pid_t pid = vfork();
    if (pid == 0) {
        become(plan, failure);
        _exit(127);
    }
    return pid;
}

/// Opens without waiting, even for the other side of a named pipe. Reads of the result do wait.
int openAbove(const char* path, int flags) {
    const int all = flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    int descriptor = open(path, all, 0666);
    // This program was started with a closed standard stream.
    if (descriptor >= 0 && descriptor <= 2) {
        const int above = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
        close(descriptor);
        descriptor = above;
    }
    if (descriptor >= 0) {
        fcntl(descriptor, F_SETFL, flags & (O_ACCMODE | O_APPEND));
    }
    return descriptor;
}

bool makeErrorPipe(int (&ends)[2]) {
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    for (int& end : ends) {
        if (end <= 2) {
            end = fcntl(end, F_DUPFD_CLOEXEC, 3);
        }
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    // So that a command with much output does not wait for this program.
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    return true;
}

} // namespace

Spawned spawn(const Options& options, const sigset_t& mask) {
    Spawned result;
    const auto failed = [&result](const char* step) {
        result.step = step;
        result.error = errno;
        return result;
    };
    const int input = openAbove(options.input, O_RDONLY);
    if (input < 0) {
        return failed("cannot read the file for standard input");
    }
    const int output = openAbove(options.output, O_WRONLY | O_CREAT | O_TRUNC);
    if (output < 0) {
        return failed("cannot write the file for standard output");
    }
    int errors[2];
    if (!makeErrorPipe(errors)) {
        return failed("cannot make a pipe");
    }
    const std::vector<std::string> paths = candidates(options.command[0]);
    // If SIGCHLD is ignored, wait cannot work here. The command gets the original disposition.
    struct sigaction childAction {};
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &standard, &childAction);
    const Plan plan{options, mask, childAction, input, output, errors[1], paths};
    volatile Failure failure{nullptr, 0};
    result.startNs = nowNs();
    const pid_t pid = start(plan, failure);
    if (pid < 0) {
        return failed("cannot start a process");
    }
    close(input);
    close(output);
    close(errors[1]);
    result.errors = errors[0];
    result.step = failure.step;
    result.error = failure.error;
    result.pid = pid;
    result.handle = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    return result;
}

} // namespace heapwright::runner
