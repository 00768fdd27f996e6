/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * libheapwright-marks.so: preloaded in front of an allocator, it stands between the program and the
 * allocator and says when a thread enters the allocator, when it leaves it, and with which object.
 * What it says appears in valgrind's log (messages.h); outside valgrind it is silent and only
 * passes the calls on.
 *
 * Only the outermost call of a thread is marked: what operator new does in malloc belongs to
 * operator new. A call that is left by an exception is left like any other, by way of the clean-up
 * of `Call`.
 *
 * Threads take turns under valgrind, and long ones: a hundred thousand blocks of code. So that they
 * meet inside an allocator's structures as they would on several processors, each gives its turn
 * away after every few calls, between two of them.
 *
 * The allocator is found by RTLD_NEXT at the first call. What the C library allocates meanwhile, or
 * while a thread's stack is looked up, comes from a small arena here and is never seen below.
 */
#define _GNU_SOURCE
#include "arena.h"
#include "code.h"
#include "messages.h"
#include "request.h"
#include "routines.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <unistd.h>

enum { callsPerTurn = 10, unknownStack = 64 << 10 };

static struct Routines next;

static struct {
    bool begun;
    bool counting; /* under valgrind */
} process;

/* The calling thread. */
static _Thread_local struct {
    unsigned depth; /* calls of allocation routines that are open */
    unsigned calls;
    bool begun;
    bool busy; /* what is allocated now is ours */
    struct Print print;
} self;

#include "calls.h"

static void reportCode(const struct MappedCode* code) {
    say("hw code %lx %lx %lx %s\n", code->start, code->end, code->offset, code->file);
}

static void beginProcess(void) {
    self.busy = true;
    findRoutines(&next);
    process.counting = underValgrind();
    if (process.counting) {
        reportAllCode(reportCode);
        say("hw marks %lx\n", (uintptr_t)&beginProcess);
        Dl_info found;
        void* routine;
        memcpy(&routine, &next.malloc, sizeof routine);
        say("hw provider %s\n",
            dladdr(routine, &found) != 0 && found.dli_fname != NULL ? found.dli_fname : "");
    }
    process.begun = true;
    self.busy = false;
}

/* The first thread's stack grows downwards to its limit; of any other thread's the C library knows
 * where it lies. */
static void beginThread(uintptr_t stackPointer) {
    self.begun = true;
    self.busy = true;
    uintptr_t low = stackPointer - unknownStack;
    uintptr_t high = 0;
    if (gettid() == getpid()) {
        struct rlimit limit;
        const bool limited = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur <= 64 << 20;
        low = stackPointer - (limited ? limit.rlim_cur : 8 << 20);
    } else {
        pthread_attr_t attributes;
        if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
            void* stack;
            size_t size;
            if (pthread_attr_getstack(&attributes, &stack, &size) == 0) {
                low = (uintptr_t)stack;
                high = low + size;
            }
            pthread_attr_destroy(&attributes);
        }
    }
    say("hw stack %lx %lx\n", low, high);
    preparePrint(&self.print, "hw call %lx %lx %lx\n");
    self.busy = false;
}

static inline __attribute__((always_inline)) struct Call enter(enum heapwright_mark kind,
                                                               const void* object, size_t size) {
    if (__builtin_expect(!process.begun, 0)) {
        beginProcess();
    }
    const struct Call call = beginCall(process.counting, size);
    if (call.marked) {
        const uintptr_t stackPointer = (uintptr_t)__builtin_frame_address(0);
        if (__builtin_expect(!self.begun, 0)) {
            beginThread(stackPointer);
        }
        if (!__libc_single_threaded && ++self.calls % callsPerTurn == 0) {
            sched_yield();
        }
        print(&self.print, kind, stackPointer, (uintptr_t)object);
    }
    return call;
}

void* malloc(size_t size) {
    if (self.busy) {
        return arenaTake(size);
    }
    CALL(heapwright_allocate, NULL, size);
    return call.result = next.malloc(size);
}

void* calloc(size_t count, size_t size) {
    if (self.busy) {
        return size != 0 && count > SIZE_MAX / size ? NULL : arenaTake(count * size);
    }
    CALL(heapwright_zero, NULL, count * size);
    return call.result = next.calloc(count, size);
}

void* realloc(void* object, size_t size) {
    if (reallocStaysInArena(object)) {
        return reallocFromArena(object, size);
    }
    CALL(heapwright_resize, object, size);
    return call.result = next.realloc(object, size);
}

void* reallocarray(void* object, size_t count, size_t size) {
    CALL(heapwright_resize, object, count * size);
    return call.result = next.reallocarray(object, count, size);
}

void free(void* object) {
    if (self.busy || inArena(object)) {
        return;
    }
    CALL(heapwright_release, object, 0);
    next.free(object);
}

void* memalign(size_t alignment, size_t size) {
    CALL(heapwright_allocate, NULL, size);
    return call.result = next.memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
    CALL(heapwright_allocate, NULL, size);
    return call.result = next.aligned_alloc(alignment, size);
}

/* The pointer is the program's: the allocator is given one of ours to write to. */
int posix_memalign(void** place, size_t alignment, size_t size) {
    void* result = NULL;
    int error;
    {
        CALL(heapwright_allocate, NULL, size);
        error = next.posix_memalign(&result, alignment, size);
        call.result = error == 0 ? result : NULL;
    }
    if (error == 0) {
        *place = result;
    }
    return error;
}

void* valloc(size_t size) {
    CALL(heapwright_allocate, NULL, size);
    return call.result = next.valloc(size);
}

void* pvalloc(size_t size) {
    CALL(heapwright_allocate, NULL, size);
    return call.result = next.pvalloc(size);
}

size_t malloc_usable_size(void* object) {
    CALL(heapwright_ask, NULL, 0);
    return next.malloc_usable_size(object);
}

#include "operators.h"
