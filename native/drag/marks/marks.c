/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * libheapwright-drag-marks.so, preloaded into a program under valgrind. It reports in valgrind's
 * log when a thread enters the allocator, from where, when it leaves it, and with which object.
 * Outside valgrind it reports nothing. The lines are those of native/valgrind/marks/messages.h, and
 * also:
 *
 *   hw module START END BIAS F    code of the file F, whose own address 0 is at BIAS
 *   hw own F                      malloc is F's, which precedes this library: no marks are possible
 *   hw touch ADDRESS 0 0          a system call accesses this address, which its line does not show
 *
 * A call that allocates is followed by its chain of calls, in valgrind's format.
 *
 * Only the outermost call of a thread is marked: the malloc in operator new belongs to operator
 * new. Objects have space around them (spaced.h). For system calls with lists of buffers,
 * valgrind's log contains only the address of the list, so this library reports the buffers
 * (vectors.h).
 */
#define _GNU_SOURCE
#include "spaced.h"
#include "valgrind/marks/arena.h"
#include "valgrind/marks/code.h"
#include "valgrind/marks/messages.h"
#include "valgrind/marks/request.h"
#include "valgrind/marks/routines.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static struct Routines next;

static struct {
    bool begun;
    bool marking; /* under valgrind, and malloc is this library's */
    bool reached; /* a test call of malloc arrived here */
} process;

/* The calling thread. */
static _Thread_local struct {
    unsigned depth; /* depth of calls of allocation routines */
    bool begun;
    bool busy; /* allocations now belong to the marks */
    struct Print print;
    struct Print printWithCalls;
    struct Print printTouch;
} self;

#include "valgrind/marks/calls.h"

static void reportModule(const struct MappedCode* code) {
    say("hw module %lx %lx %lx %s\n", code->start, code->end, code->bias, code->file);
}

/* probe.c: calls malloc and free as any library does. */
void heapwrightProbe(void);

/* The file of the malloc that the program calls, if it is not this library's; else null. A test
 * call decides, because an executable may have an entry for malloc in its own linkage table. */
static const char* ownerOfMalloc(void) {
    heapwrightProbe();
    Dl_info bound;
    void* const routine = dlsym(RTLD_DEFAULT, "malloc");
    if (process.reached) {
        return NULL;
    }
    return dladdr(routine, &bound) != 0 && bound.dli_fname != NULL ? bound.dli_fname : "";
}

__attribute__((constructor)) static void beginProcess(void) {
    if (process.begun) {
        return;
    }
    self.busy = true;
    findRoutines(&next);
    if (underValgrind()) {
        reportAllCode(reportModule);
        say("hw marks %lx\n", (uintptr_t)&beginProcess);
        const char* const owner = ownerOfMalloc();
        if (owner != NULL) {
            say("hw own %s\n", owner);
        }
        process.marking = owner == NULL;
    }
    process.begun = true;
    self.busy = false;
}

static void beginThread(void) {
    self.begun = true;
    preparePrint(&self.print, "hw call %lx %lx %lx\n");
    preparePrint(&self.printWithCalls, "hw call %lx %lx %lx\n");
    withCalls(&self.printWithCalls);
    preparePrint(&self.printTouch, "hw touch %lx %lx %lx\n");
}

static inline __attribute__((always_inline)) struct Call enter(enum heapwright_mark kind,
                                                               const void* object, size_t size) {
    if (__builtin_expect(!process.begun, 0)) {
        beginProcess();
    }
    const struct Call call = beginCall(process.marking, size);
    if (call.marked) {
        if (__builtin_expect(!self.begun, 0)) {
            beginThread();
        }
        const bool allocates = kind != heapwright_release && kind != heapwright_ask;
        print(allocates ? &self.printWithCalls : &self.print, kind, 0, (uintptr_t)object);
    }
    return call;
}

/* For vectors.c: reports an access to an address. */
void heapwrightTouch(const void* address) {
    if (process.marking) {
        if (!self.begun) {
            beginThread();
        }
        print(&self.printTouch, (uintptr_t)address, 0, 0);
    }
}

void* malloc(size_t size) {
    if (self.busy) {
        process.reached = true;
        return arenaTake(size);
    }
    CALL(heapwright_allocate, NULL, size);
    return call.result = takeSpaced(&next, 16, size, false);
}

void* calloc(size_t count, size_t size) {
    size_t whole;
    if (__builtin_mul_overflow(count, size, &whole)) {
        errno = ENOMEM;
        return NULL;
    }
    if (self.busy) {
        return arenaTake(whole);
    }
    CALL(heapwright_zero, NULL, whole);
    return call.result = takeSpaced(&next, 16, whole, true);
}

void* realloc(void* object, size_t size) {
    if (reallocStaysInArena(object)) {
        return reallocFromArena(object, size);
    }
    CALL(heapwright_resize, object, size);
    return call.result = resizeSpaced(&next, object, size);
}

void* reallocarray(void* object, size_t count, size_t size) {
    size_t whole;
    if (__builtin_mul_overflow(count, size, &whole)) {
        errno = ENOMEM;
        return NULL;
    }
    CALL(heapwright_resize, object, whole);
    return call.result = resizeSpaced(&next, object, whole);
}

void free(void* object) {
    if (self.busy || inArena(object)) {
        return;
    }
    CALL(heapwright_release, object, 0);
    giveSpaced(&next, object);
}

static bool isPowerOfTwo(size_t number) {
    return number != 0 && (number & (number - 1)) == 0;
}

static size_t atLeast16(size_t alignment) {
    return alignment < 16 ? 16 : alignment;
}

/* The C library rounds any other alignment up to a power of two. */
void* memalign(size_t alignment, size_t size) {
    size_t power = 16;
    while (power < alignment && power < (size_t)1 << 62) {
        power *= 2;
    }
    CALL(heapwright_allocate, NULL, size);
    return call.result = takeSpaced(&next, power, size, false);
}

void* aligned_alloc(size_t alignment, size_t size) {
    if (!isPowerOfTwo(alignment)) {
        errno = EINVAL;
        return NULL;
    }
    CALL(heapwright_allocate, NULL, size);
    return call.result = takeSpaced(&next, atLeast16(alignment), size, false);
}

int posix_memalign(void** place, size_t alignment, size_t size) {
    if (!isPowerOfTwo(alignment) || alignment % sizeof(void*) != 0) {
        return EINVAL;
    }
    const int before = errno;
    void* result;
    {
        CALL(heapwright_allocate, NULL, size);
        result = call.result = takeSpaced(&next, atLeast16(alignment), size, false);
    }
    errno = before;
    if (result != NULL) {
        *place = result;
    }
    return result != NULL ? 0 : ENOMEM;
}

enum { page = 4096 };

void* valloc(size_t size) {
    CALL(heapwright_allocate, NULL, size);
    return call.result = takeSpaced(&next, page, size, false);
}

void* pvalloc(size_t size) {
    const size_t whole = size > PTRDIFF_MAX ? size : (size + page - 1) & ~(size_t)(page - 1);
    CALL(heapwright_allocate, NULL, whole);
    return call.result = takeSpaced(&next, page, whole, false);
}

size_t malloc_usable_size(void* object) {
    if (object == NULL || inArena(object)) {
        return 0;
    }
    CALL(heapwright_ask, NULL, 0);
    return isSpaced(object) ? headOf(object)->size : next.malloc_usable_size(object);
}

#include "valgrind/marks/operators.h"
