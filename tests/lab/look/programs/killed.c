/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into heapwright-look: kills it before its step number KILL_AT, or the process KILL_PID
 * in its place. A step is a call that touches the other process. At its end it writes the number of
 * steps to the file COUNT_TO.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static long steps;

static void step(void) {
    const char* const at = getenv("KILL_AT");
    ++steps;
    if (at != NULL && atol(at) == steps) {
        const char* const other = getenv("KILL_PID");
        const pid_t pid = other == NULL ? getpid() : atoi(other);
        struct pollfd ended = {(int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0};
        kill(pid, SIGKILL);
        poll(&ended, 1, 1000);
        close(ended.fd);
    }
}

__attribute__((destructor)) static void end(void) {
    const char* const path = getenv("COUNT_TO");
    FILE* const file = path == NULL ? NULL : fopen(path, "w");
    if (file != NULL) {
        fprintf(file, "%ld", steps);
        fclose(file);
    }
}

ssize_t process_vm_readv(pid_t pid, const struct iovec* local, unsigned long locals,
                         const struct iovec* remote, unsigned long remotes, unsigned long flags) {
    step();
    ssize_t (*next)(pid_t, const struct iovec*, unsigned long, const struct iovec*, unsigned long,
                    unsigned long) = dlsym(RTLD_NEXT, "process_vm_readv");
    return next(pid, local, locals, remote, remotes, flags);
}

ssize_t pread(int file, void* to, size_t bytes, off_t at) {
    step();
    ssize_t (*next)(int, void*, size_t, off_t) = dlsym(RTLD_NEXT, "pread");
    return next(file, to, bytes, at);
}

int open(const char* path, int flags, ...) {
    step();
    int (*next)(const char*, int, ...) = dlsym(RTLD_NEXT, "open");
    va_list more;
    va_start(more, flags);
    const int mode = va_arg(more, int);
    va_end(more);
    return next(path, flags, mode);
}

long ptrace(enum __ptrace_request request, ...) {
    step();
    long (*next)(enum __ptrace_request, pid_t, void*, void*) = dlsym(RTLD_NEXT, "ptrace");
    va_list more;
    va_start(more, request);
    const pid_t pid = va_arg(more, pid_t);
    void* const address = va_arg(more, void*);
    void* const data = va_arg(more, void*);
    va_end(more);
    return next(request, pid, address, data);
}

pid_t waitpid(pid_t pid, int* status, int options) {
    step();
    pid_t (*next)(pid_t, int*, int) = dlsym(RTLD_NEXT, "waitpid");
    return next(pid, status, options);
}
