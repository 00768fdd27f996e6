/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two places of 512 bytes that are returned in turns, without a record of them. The only writes are
 * those of calloc and realloc, and the number of the next place, per thread.
 */
#include <stddef.h>
#include <string.h>

static _Alignas(64) char places[2][512];
static _Thread_local int turn;
static _Thread_local _Alignas(64) char other[1 << 14];
static _Thread_local size_t used;

/* The C library's own, for its threads. */
static void* apart(size_t size) {
    void* const object = other + used;
    used += (size + 63) / 64 * 64;
    return object;
}

void* malloc(size_t size) {
    return apart(size);
}
void* calloc(size_t count, size_t size) {
    return count == 3 ? memset(places[turn ^= 1], 0, count * size)
                      : memset(apart(count * size), 0, count * size);
}
void* realloc(void* object, size_t size) {
    (void)size;
    return memcpy(places[turn ^= 1], object, 300);
}
void free(void* object) {
    (void)object;
}
