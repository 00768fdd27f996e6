/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * One call of an allocation routine, from its entry to the end of its scope. Both libraries of
 * marks share this.
 *
 * Pre: the file that includes this has defined `next` (struct Routines), the thread's `self` with
 * `depth`, `busy` and `print`, and `process` with `begun`.
 */
#ifndef HEAPWRIGHT_VALGRIND_CALLS_H
#define HEAPWRIGHT_VALGRIND_CALLS_H

#include "arena.h"
#include "messages.h"
#include "request.h"
#include "routines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct Call {
    bool marked;
    void* result;
    size_t size;
};

/* Ends a call. The compiler calls it at the end of the scope, also after an exception. */
static void leave(struct Call* call) {
    --self.depth;
    if (call->marked) {
        print(&self.print, heapwright_leave, (uintptr_t)call->result, call->size);
    }
}

/* Begins a call. It is marked if `marking` holds and the thread is in no other call. */
static inline __attribute__((always_inline)) struct Call beginCall(bool marking, size_t size) {
    return (struct Call){self.depth++ == 0 && marking, NULL, size};
}

/* Finds the operators of a C++ runtime that the program opened after its start. */
static void findLater(void) {
    self.busy = true;
    findLateOperators(&next);
    self.busy = false;
}

/* Whether `realloc` must not reach the allocator: the marks make the call, or the object is in
 * their arena. */
static inline bool reallocStaysInArena(const void* object) {
    return self.busy || (object != NULL && inArena(object));
}

static void* reallocFromArena(void* object, size_t size) {
    void* const fresh = self.busy ? arenaTake(size) : malloc(size);
    if (fresh != NULL && object != NULL) {
        arenaCopy(fresh, object, size);
    }
    return fresh;
}

#define CALL(...) struct Call call __attribute__((cleanup(leave), unused)) = enter(__VA_ARGS__)

#endif
