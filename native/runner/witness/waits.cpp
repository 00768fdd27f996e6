// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The wait family, passed on to the C library's own wait4 and waitid (which also keeps them points
// at which a thread can be cancelled), and noted: the kernel tells a parent how its child ended and
// what the child used to the very end. That is how a child which never reported (a static program)
// is known for certain, and why the kernel's work of burying a process is not taken for an unknown
// one's.
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

/// waitid gives no account, but the sum over all children grows by it.
rusage grownSince(const rusage& before) {
    rusage grown = usageOfChildren();
    timersub(&grown.ru_utime, &before.ru_utime, &grown.ru_utime);
    timersub(&grown.ru_stime, &before.ru_stime, &grown.ru_stime);
    grown.ru_maxrss = 0; // the largest of all is not this one's
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
