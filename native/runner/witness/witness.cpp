// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The witness, preloaded after the allocator into every process of a run. It records the provider
// of malloc, and at the end the CPU time of the process. It defines no allocation routine, calls
// none, and keeps errno. This file contains the hooks into the life of a process. waits.cpp and
// execs.cpp intercept the wait and exec families.
//
// Cost: about 20 system calls at the start, none while the program runs, and three at the exit. No
// calls after the process has entered a sandbox, where an unexpected system call may end the
// process. The mapping stays, so closed descriptors, chroot and a cleared environment do not affect
// a running process.
#include "report.hpp"

#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

namespace heapwright::runner::witness {

namespace {

void afterForkInParent() {
    const KeepErrno keep;
    noteForkInParent();
}

void afterForkInChild() {
    const KeepErrno keep;
    noteForkInChild();
}

void atExit() {
    const KeepErrno keep;
    finish();
}

const char* valueOf(const char* name, char** environment) {
    const std::size_t length = std::strlen(name);
    for (char** entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
        if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
            return *entry + length + 1;
        }
    }
    return nullptr;
}

/// The loader passes the environment, so the program's own getenv is not called.
__attribute__((constructor)) void begin(int, char**, char** environment) {
    const KeepErrno keep;
    const char* const path = valueOf(variable, environment);
    if (path != nullptr) {
        open(path);
    }
    if (self.file != nullptr) {
        pthread_atfork(nullptr, &afterForkInParent, &afterForkInChild);
        at_quick_exit(&atExit);
        findExecs();
    }
}

__attribute__((destructor)) void end() {
    atExit();
}

[[noreturn]] void leave(int status) {
    finish();
    for (;;) {
        syscall(SYS_exit_group, status);
    }
}

} // namespace

} // namespace heapwright::runner::witness

extern "C" {

EXPORT void _exit(int status) {
    heapwright::runner::witness::leave(status);
}
EXPORT void _Exit(int status) noexcept {
    heapwright::runner::witness::leave(status);
}

/// A process that enters a sandbox calls this first.
EXPORT int prctl(int option, ...) noexcept {
    va_list list;
    va_start(list, option);
    const unsigned long a = va_arg(list, unsigned long);
    const unsigned long b = va_arg(list, unsigned long);
    const unsigned long c = va_arg(list, unsigned long);
    const unsigned long d = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_SET_NO_NEW_PRIVS || option == PR_SET_SECCOMP) {
        heapwright::runner::witness::noteSandbox();
    }
    return static_cast<int>(syscall(SYS_prctl, option, a, b, c, d));
}
}
