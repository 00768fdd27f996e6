/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Objects of 64 bytes at multiples of 64 on one list that all threads use (one at a time, because
 * nothing locks). Its free writes the link into the object. Its malloc writes nothing but the
 * list's head. What the C library callocs for its threads lies apart and is never reused.
 */
#include <stddef.h>

static _Alignas(64) char area[1 << 20];
static _Alignas(64) char apart[1 << 16];
static _Alignas(64) struct {
    void** list;
    size_t used;
} head;
static _Alignas(64) size_t usedApart;

void* malloc(size_t size) {
    void** const first = head.list;
    if (size > 64) {
        return NULL;
    }
    if (first != NULL) {
        head.list = *first;
        return first;
    }
    head.used += 64;
    return area + head.used - 64;
}

void free(void* object) {
    if ((char*)object >= area && (char*)object < area + sizeof area) {
        *(void**)object = head.list;
        head.list = object;
    }
}

void* calloc(size_t count, size_t size) {
    void* const object = apart + usedApart;
    usedApart += (count * size + 15) / 16 * 16;
    return object;
}

void* realloc(void* object, size_t size) {
    return object == NULL ? malloc(size) : NULL;
}
