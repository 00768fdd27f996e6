// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A hand-written region: a pointer moves through chunks of 64 KiB from the C library, and all
// objects are freed at once. Plain C, to compare with the composition `Region` of compositions.hpp.
// An object too large for a chunk gets one of its own. errno is kept.
#include "subject.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define likely(condition) __builtin_expect(!!(condition), 1)
#define OUT_OF_LINE __attribute__((noinline))

enum { kAlignment = 16 };

static const size_t kChunk = ((size_t)64 << 10) - 32;

struct Chunk {
    struct Chunk* next;
    uintptr_t end; ///< so that the region recognises its own addresses
};

static struct {
    uintptr_t next; ///< where the next object starts
    uintptr_t end;  ///< the end of its chunk
    struct Chunk* chunks;
} region;

static inline size_t rounded(size_t size) {
    return (size + kAlignment - 1) & ~(size_t)(kAlignment - 1);
}

OUT_OF_LINE static void* fromNewChunk(size_t size) {
    size_t whole = kChunk;
    if (size > kChunk - sizeof(struct Chunk)) {
        whole = rounded(size + sizeof(struct Chunk));
        if (whole < size)
            return NULL;
    }
    int kept = errno;
    struct Chunk* chunk = malloc(whole);
    errno = kept;
    if (chunk == NULL)
        return NULL;
    chunk->next = region.chunks;
    region.chunks = chunk;
    uintptr_t first = (uintptr_t)(chunk + 1);
    uintptr_t next = first + rounded(size);
    uintptr_t end = chunk->end = (uintptr_t)chunk + whole;
    if (end - next >= region.end - region.next) { // continue in the chunk with more room
        region.next = next;
        region.end = end;
    }
    return (void*)first;
}

void* subjectMalloc(size_t size) {
    if (likely(size <= region.end - region.next)) {
        uintptr_t object = region.next;
        region.next += rounded(size);
        return (void*)object;
    }
    return fromNewChunk(size);
}

void subjectClear(void) {
    struct Chunk* chunk = region.chunks;
    while (chunk != NULL) {
        struct Chunk* next = chunk->next;
        free(chunk);
        chunk = next;
    }
    region.chunks = NULL;
    region.next = region.end = 0;
}
