/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * libheapwright-marks.so, preloaded in front of an allocator. It reports when a thread enters the
 * allocator, when it leaves it, and with which object. The reports appear in valgrind's log
 * (messages.h). Outside valgrind it only passes the calls on.
 *
 * Only the outermost call of a thread is marked: the malloc in operator new belongs to operator
 * new. A call that an exception ends is left like any other, by the clean-up of `Call`.
 *
 * Threads take long turns under valgrind: a hundred thousand blocks of code. Each thread therefore
 * yields after every few calls, between two of them, so that threads meet inside the allocator's
 * structures as on several processors.
 *
 * The allocator is found by RTLD_NEXT at the first call. The C library allocates meanwhile, or
 * while a thread's stack is looked up. That memory comes from a small arena here, and the allocator
 * never sees it.
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
    unsigned depth; /* depth of calls of allocation routines */
    unsigned calls;
    bool begun;
    bool busy; /* allocations now belong to the marks */
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

/* The first thread's stack grows downwards to its limit. For any other thread the C library
 * knows the range. */
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

/* `place` is the program's, so the allocator gets a local pointer to write to. */
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
