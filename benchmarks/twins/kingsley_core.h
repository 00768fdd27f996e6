// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Kingsley's allocator written by hand, without a lock, to compare the composition's instruction
// counts with. It has the layers `Chunks` to `Checked` of
// include/heapwright/allocators/kingsley.hpp in one piece of plain C. It has 29 classes of
// power-of-two blocks, 16 bytes to 4 GiB, each with a list. New blocks are carved from chunks of 1
// MiB. An 8-byte word before each object holds `block size << 16 | state`. A free checks the
// address and the state, and aborts if the object is not live.
//
// Written to be fast. Everything on the path of malloc and free is inlined, hints mark the usual
// branch, and rare paths are out of line. State numbers and sizes are those of
// include/heapwright/structure/object/tag.hpp, so that neither side has shorter constants.
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define OUT_OF_LINE __attribute__((noinline))
#define RARE __attribute__((cold, noinline))

enum {
    kClasses = 29,
    kSmallestLog = 4, // the smallest block, 16 bytes
    kTagBytes = 8,
    kAlignment = 16,
    kLive = 0xB7E5,
    kFree = 0x93C5,
    kDisplaced = 0xD92B,
    kStateBits = 16,
    kPage = 4096,
};

static const size_t kChunk = (size_t)1 << 20;

struct Node {
    struct Node* next;
};

/// The header of each mapping. The pieces start 8 bytes past a multiple of 16.
struct Chunk {
    struct Chunk* next;
    struct Chunk* previous;
    size_t length;
    uint64_t unused;
};

struct Core {
    struct Node* lists[kClasses];
    uintptr_t next;       ///< where the next piece starts
    uintptr_t end;        ///< the end of the chunk that contains it
    struct Chunk* chunks; ///< all chunks, newest first
};

static inline uint64_t* tagOf(void* object) {
    return (uint64_t*)object - 1;
}

/// The class of a block: the position of its highest bit, minus that of the smallest block.
static inline size_t classOfBlock(uint64_t block) {
    return (size_t)(63U ^ (unsigned)__builtin_clzll(block)) - kSmallestLog;
}

/// The first class whose objects hold `size` bytes.
/// Pre: `size` is at least 1.
static inline size_t classFor(size_t size) {
    return classOfBlock(size + kTagBytes - 1) + 1;
}

static inline size_t blockOf(size_t index) {
    return (size_t)1 << (index + kSmallestLog);
}

__attribute__((cold, noinline, noreturn)) static void refuse(const char* line) {
    ssize_t written = write(STDERR_FILENO, line, strlen(line));
    (void)written;
    abort();
}

__attribute__((cold, noinline, noreturn)) static void refuseFree(void* object) {
    bool freed = (uintptr_t)object % kAlignment == 0 && (uint16_t)*tagOf(object) == kFree;
    refuse(freed ? "twin: free(): double free\n" : "twin: free(): invalid pointer\n");
}

/// Maps a chunk with room for `bytes`, and puts it first on the list.
static struct Chunk* mapChunk(struct Core* core, size_t bytes) {
    size_t length = (sizeof(struct Chunk) + bytes + kPage - 1) & ~(size_t)(kPage - 1);
    if (length < bytes)
        return NULL;
    int kept = errno;
    void* pages = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = kept;
    if (pages == MAP_FAILED)
        return NULL;
    struct Chunk* chunk = pages;
    chunk->next = core->chunks;
    chunk->previous = NULL;
    chunk->length = length;
    if (core->chunks != NULL)
        core->chunks->previous = chunk;
    core->chunks = chunk;
    return chunk;
}

/// A block from a new chunk. A block too large to share one gets a chunk of its own.
OUT_OF_LINE static void* cutFromNewChunk(struct Core* core, size_t block) {
    const size_t room = kChunk - sizeof(struct Chunk) - kTagBytes;
    struct Chunk* chunk = mapChunk(core, block > room ? block + kTagBytes : room);
    if (chunk == NULL)
        return NULL;
    uintptr_t first = (uintptr_t)(chunk + 1) + kTagBytes;
    uintptr_t last = (uintptr_t)chunk + chunk->length;
    if (block <= room && last - first - block > core->end - core->next) {
        core->next = first + block;
        core->end = last;
    }
    return (void*)first;
}

/// An object when its list is empty.
/// Pre: `block` is a multiple of 16.
OUT_OF_LINE static void* fetch(struct Core* core, size_t block) {
    uint64_t* tag = (uint64_t*)core->next;
    if (likely(block <= core->end - core->next))
        core->next += block;
    else if ((tag = cutFromNewChunk(core, block)) == NULL)
        return NULL;
    *tag = (uint64_t)block << kStateBits | kLive;
    return tag + 1;
}

/// Frees an object larger than every class to the system.
/// Pre: it is alone in its chunk.
OUT_OF_LINE static void release(struct Core* core, void* object) {
    struct Chunk* chunk = (struct Chunk*)((char*)object - kAlignment) - 1;
    *(chunk->previous != NULL ? &chunk->previous->next : &core->chunks) = chunk->next;
    if (chunk->next != NULL)
        chunk->next->previous = chunk->previous;
    int kept = errno;
    munmap(chunk, chunk->length);
    errno = kept;
}

OUT_OF_LINE static void* fetchLarge(struct Core* core, size_t size) {
    size_t block = (size + kTagBytes + kAlignment - 1) & ~(size_t)(kAlignment - 1);
    return block < size ? NULL : fetch(core, block);
}

static inline void* coreMalloc(struct Core* core, size_t size) {
    size_t index = classFor(size);
    if (unlikely(index >= kClasses))
        return fetchLarge(core, size);
    struct Node* node = core->lists[index];
    if (unlikely(node == NULL))
        return fetch(core, blockOf(index));
    core->lists[index] = node->next;
    *tagOf(node) |= kLive; // all the bits of kFree and some more
    return node;
}

static inline void coreFree(struct Core* core, void* object) {
    if (unlikely((uintptr_t)object % kAlignment != 0))
        refuseFree(object);
    uint64_t tag = *tagOf(object);
    if (unlikely((uint16_t)tag != kLive))
        refuseFree(object);
    tag ^= kLive ^ kFree;
    *tagOf(object) = tag;
    size_t index = classOfBlock(tag >> kStateBits);
    if (unlikely(index >= kClasses)) {
        release(core, object);
        return;
    }
    struct Node* node = object;
    node->next = core->lists[index];
    core->lists[index] = node;
}
