/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded: holds a process at its end, so that another process can search its memory. The end is
 * the return of `main`, or a call of exit, quick_exit, _exit or abort. The library connects to the
 * socket that HEAPWRIGHT_HOLD names, and waits until the listener closes the connection. The frame
 * of `main` stays on the stack, so the search finds its pointers. The library allocates nothing.
 * Without a listener, the process ends as usual. A signal that kills the process bypasses the hold.
 */
#define _GNU_SOURCE
#include "hold.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

typedef int Main(int, char**, char**);
typedef int Start(Main*, int, char**, void (*)(void), void (*)(void), void (*)(void), void*);

enum { keptStack = 256 << 10 }; /* bytes below the caller of `main` that stay on the stack */

static Main* program;
/* The process that may be searched: not a child of vfork, which has its parent's memory. */
static pid_t self;
static int held;

static int connectTo(const char* path) {
    struct sockaddr_un address;
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address.sun_path) {
        return -1;
    }
    strcpy(address.sun_path, path);
    const int line = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (line >= 0 && connect(line, (const struct sockaddr*)&address, sizeof address) != 0) {
        close(line);
        return -1;
    }
    return line;
}

static void hold(void) {
    if (held || getpid() != self) {
        return;
    }
    held = 1;
    const int before = errno;
    const char* const path = getenv("HEAPWRIGHT_HOLD");
    const int line = path != NULL ? connectTo(path) : -1;
    if (line >= 0) {
        /* Needed on systems where only a parent may trace a process. */
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
        struct timespec now = {0, 0};
        clock_gettime(CLOCK_REALTIME, &now);
        /* If `main` ended by pthread_exit, only a thread still has the memory of the process. */
        const int64_t said[3] = {getpid(), (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
                                 syscall(SYS_gettid)};
        char answer = 0;
        if (write(line, said, sizeof said) == (ssize_t)sizeof said) {
            while (read(line, &answer, 1) < 0 && errno == EINTR) {
            }
        }
        close(line);
    }
    errno = before;
}

void searchNow(void) {
    hold();
}

static void forked(void) {
    self = getpid();
    held = 0;
}

__attribute__((constructor)) static void begin(void) {
    forked();
    pthread_atfork(NULL, NULL, forked);
    at_quick_exit(hold);
}

__attribute__((destructor)) static void end(void) {
    hold();
}

/* The frame of `main` lies below this one, and nothing has been written there since it returned.
 * The room that is taken on the stack covers it, so that the search reads it as part of the stack.
 */
static int runMain(int count, char** arguments, char** environment) {
    const int status = program(count, arguments, environment);
    struct rlimit limit;
    limit.rlim_cur = 0;
    if (prlimit(0, RLIMIT_STACK, NULL, &limit) == 0 && limit.rlim_cur / 4 >= keptStack) {
        char* const kept = alloca(keptStack);
        __asm__ volatile("" : : "r"(kept) : "memory"); /* the compiler must not leave it out */
        hold();
    }
    return status;
}

__attribute__((visibility("default"))) int
__libc_start_main(Main* main, int count, char** arguments, void (*init)(void), void (*fini)(void),
                  void (*linkerFini)(void), void* stackEnd) {
    void* const found = dlsym(RTLD_NEXT, "__libc_start_main");
    Start* next = NULL;
    memcpy(&next, &found, sizeof next);
    program = main;
    return next(runMain, count, arguments, init, fini, linkerFini, stackEnd);
}

__attribute__((visibility("default"), noreturn)) void _exit(int status) {
    hold();
    for (;;) {
        syscall(SYS_exit_group, status);
    }
}

__attribute__((visibility("default"), noreturn)) void abort(void) {
    typedef void Abort(void);
    hold();
    void* const found = dlsym(RTLD_NEXT, "abort");
    Abort* next = NULL;
    memcpy(&next, &found, sizeof next);
    next();
    for (;;) { /* the compiler does not know that it never returns */
    }
}

__attribute__((visibility("default"), noreturn)) void _Exit(int status) {
    _exit(status);
}
