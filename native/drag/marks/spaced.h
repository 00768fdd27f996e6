/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Objects with unused space around them. The C library's string functions read whole vectors, and
 * so bytes before and after their argument. With the space, such a read touches no neighbouring
 * object. The usable size of an object is its requested size.
 *
 * Before each object are the start of the allocator's own memory, the object's size, and a number
 * that identifies objects of this library. Other objects are passed to the allocator unchanged.
 */
#ifndef HEAPWRIGHT_DRAG_SPACED_H
#define HEAPWRIGHT_DRAG_SPACED_H

#include "valgrind/marks/routines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

enum { spaceAround = 128 }; /* four times the longest vector of valgrind */

struct SpacedHead {
    void* memory;
    size_t size;
    uintptr_t check;
    uintptr_t unused;
};

static inline struct SpacedHead* headOf(const void* object) {
    return (struct SpacedHead*)((char*)(uintptr_t)object - sizeof(struct SpacedHead));
}

static inline uintptr_t checkOf(const void* object) {
    return (uintptr_t)object ^ (uintptr_t)0x6865617064726167;
}

static inline bool isSpaced(const void* object) {
    return headOf(object)->check == checkOf(object);
}

/* Returns null, with errno, if the allocator has no memory. Pre: `alignment` is a power of two,
 * at least 16. */
static inline void* takeSpaced(const struct Routines* next, size_t alignment, size_t size,
                               bool zeroed) {
    if (size > PTRDIFF_MAX - 2 * spaceAround || alignment > PTRDIFF_MAX - 2 * spaceAround - size) {
        errno = ENOMEM;
        return NULL;
    }
    const size_t whole = size + 2 * spaceAround + alignment - 16;
    char* const memory = zeroed ? next->calloc(1, whole) : next->malloc(whole);
    if (memory == NULL) {
        return NULL;
    }
    const uintptr_t least = (uintptr_t)memory + spaceAround;
    char* const object = memory + ((least + alignment - 1) & ~(alignment - 1)) - (uintptr_t)memory;
    *headOf(object) = (struct SpacedHead){memory, size, checkOf(object), 0};
    return object;
}

static inline void giveSpaced(const struct Routines* next, void* object) {
    if (object == NULL || !isSpaced(object)) {
        next->free(object);
        return;
    }
    struct SpacedHead* const head = headOf(object);
    head->check = 0;
    next->free(head->memory);
}

/* As realloc; the object always moves. */
static inline void* resizeSpaced(const struct Routines* next, void* object, size_t size) {
    if (object != NULL && !isSpaced(object)) {
        return next->realloc(object, size);
    }
    if (object != NULL && size == 0) {
        giveSpaced(next, object);
        return NULL;
    }
    void* const fresh = takeSpaced(next, 16, size, false);
    if (fresh != NULL && object != NULL) {
        const size_t held = headOf(object)->size;
        memcpy(fresh, object, held < size ? held : size);
        giveSpaced(next, object);
    }
    return fresh;
}

#endif
