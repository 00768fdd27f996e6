// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The wait family: passes the call to the C library's own wait4 and waitid, which stay cancellation
// points, and records the result. The kernel reports to a parent how its child ended and its CPU
// time until the very end. A child that never reported (a static program) is thus known exactly.
// The kernel's work of removing a process is not attributed to an unknown one.
#include "next.hpp"
#include "report.hpp"

#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

namespace heapwright::runner::witness {

namespace {

using Wait4 = pid_t (*)(pid_t, int*, int, rusage*);
using Waitid = int (*)(idtype_t, id_t, siginfo_t*, int);

constinit Wait4 nextWait4 = nullptr;
constinit Waitid nextWaitid = nullptr;

pid_t waitFor(pid_t which, int* status, int options, rusage* usage) {
    int ownStatus = 0;
    rusage ownUsage{};
    rusage* const account = usage != nullptr ? usage : &ownUsage;
    const pid_t pid = next(nextWait4, "wait4")(which, &ownStatus, options, account);
    if (pid > 0) {
        if (status != nullptr) {
            *status = ownStatus;
        }
        if (WIFEXITED(ownStatus) || WIFSIGNALED(ownStatus)) {
            const KeepErrno keep;
            noteReaped(pid, ownStatus, *account);
        }
    }
    return pid;
}

rusage usageOfChildren() {
    const KeepErrno keep;
    rusage usage{};
    syscall(SYS_getrusage, RUSAGE_CHILDREN, &usage);
    return usage;
}

/// waitid reports no account, but the sum over all children grows by it.
rusage grownSince(const rusage& before) {
    rusage grown = usageOfChildren();
    timersub(&grown.ru_utime, &before.ru_utime, &grown.ru_utime);
    timersub(&grown.ru_stime, &before.ru_stime, &grown.ru_stime);
    grown.ru_minflt -= before.ru_minflt;
    grown.ru_maxrss = 0; // the maximum over all children is not this one's
    return grown;
}

int statusOf(const siginfo_t& info) {
    return info.si_code == CLD_EXITED ? (info.si_status & 0xff) << 8 : info.si_status & 0x7f;
}

bool isDeath(const siginfo_t& info) {
    return info.si_pid > 0 &&
           (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED);
}

} // namespace

} // namespace heapwright::runner::witness

extern "C" {

using namespace heapwright::runner::witness;

EXPORT pid_t wait4(pid_t which, int* status, int options, rusage* usage) noexcept {
    return waitFor(which, status, options, usage);
}

EXPORT pid_t wait3(int* status, int options, rusage* usage) noexcept {
    return waitFor(-1, status, options, usage);
}

EXPORT pid_t waitpid(pid_t which, int* status, int options) {
    return waitFor(which, status, options, nullptr);
}

EXPORT pid_t wait(int* status) {
    return waitFor(-1, status, 0, nullptr);
}

EXPORT int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
    const bool listen =
        self.file != nullptr && !isSandboxed() && info != nullptr && (options & WNOWAIT) == 0;
    const rusage before = listen ? usageOfChildren() : rusage{};
    if (listen) {
        info->si_pid = 0;
    }
    const int result = next(nextWaitid, "waitid")(type, id, info, options);
    if (listen && result == 0 && isDeath(*info)) {
        const KeepErrno keep;
        noteReaped(info->si_pid, statusOf(*info), grownSince(before));
    }
    return result;
}
}
