// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A hand-written pool: objects of one size, carved from mapped chunks of 64 KiB. Freed objects wait
// on a list, last in, first out. Plain C, to compare with the composition `Pool` of
// compositions.hpp.
//
// Written to be fast: the usual paths are a few instructions without a call, and rare ones are out
// of line.
#include "subject.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#define OUT_OF_LINE __attribute__((noinline))

enum { kAlignment = 16, kPage = 4096 };

static const size_t kChunk = (size_t)64 << 10;

struct Node {
    struct Node* next;
};

/// The header of each mapping.
struct Chunk {
    struct Chunk* next;
    size_t length;
};

static struct {
    struct Node* free;
    char* next; ///< where the next new object is carved
    char* end;
    struct Chunk* chunks;
} pool;

OUT_OF_LINE static void* cutFromNewChunk(size_t size) {
    if (size > kChunk - sizeof(struct Chunk))
        return NULL;
    int kept = errno;
    struct Chunk* chunk =
        mmap(NULL, kChunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = kept;
    if (chunk == MAP_FAILED)
        return NULL;
    chunk->next = pool.chunks;
    chunk->length = kChunk;
    pool.chunks = chunk;
    pool.next = (char*)(chunk + 1) + size;
    pool.end = (char*)chunk + kChunk;
    return chunk + 1;
}

OUT_OF_LINE static void* cut(size_t size) {
    size = (size + kAlignment - 1) & ~(size_t)(kAlignment - 1);
    if (size > (size_t)(pool.end - pool.next))
        return cutFromNewChunk(size);
    void* object = pool.next;
    pool.next += size;
    return object;
}

void* subjectMalloc(size_t size) {
    struct Node* node = pool.free;
    if (node == NULL)
        return cut(size);
    pool.free = node->next;
    return node;
}

void subjectFree(void* object) {
    struct Node* node = object;
    node->next = pool.free;
    pool.free = node;
}
