// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The witness: preloaded after the allocator into every process of a run, it writes down who
// provides malloc there, and at the end how much CPU time the process used. It defines no
// allocation routine, calls none, and leaves errno as it was. Here is where it hooks into the life
// of a process; waits.cpp listens to what the process learns of its children, execs.cpp to what it
// becomes.
//
// Cost: some 20 calls to the system at the start, none while the program runs, three at the exit,
// or none at all once the process has locked itself into a sandbox, where a call that its author
// did not foresee could be its death. The mapping is made once and kept, so closed descriptors,
// chroot and a lost environment do not matter to a process that has started.
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

/// The loader hands the environment over, so that no getenv of the program's own is called.
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

/// Whoever locks himself in says so here first.
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
