/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Memory for what the C library allocates while the next allocator is looked up, or while the marks
 * call it themselves. It is a small array that is never freed and that the allocator never sees.
 */
#ifndef HEAPWRIGHT_VALGRIND_ARENA_H
#define HEAPWRIGHT_VALGRIND_ARENA_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static _Alignas(16) char arena[1 << 20];
static atomic_size_t arenaUsed;

static void* arenaTake(size_t size) {
    const size_t rounded = (size + 31) & ~(size_t)15; /* a size before it, for realloc */
    const size_t at = atomic_fetch_add(&arenaUsed, rounded);
    if (size > sizeof arena || at + rounded > sizeof arena) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(arena + at, &size, sizeof size);
    return arena + at + 16;
}

static inline bool inArena(const void* object) {
    return (uintptr_t)object - (uintptr_t)arena < sizeof arena;
}

/* Copies as much of an arena object as there is room for. */
static inline void arenaCopy(void* to, const void* object, size_t size) {
    size_t held;
    memcpy(&held, (const char*)object - 16, sizeof held);
    memcpy(to, object, held < size ? held : size);
}

#endif
