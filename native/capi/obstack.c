// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions of an obstack that are not inline: adding and removing chunks. The algorithm is
// that of ObstackHeap. It is in C because the chunk size, the alignment and the chunk functions are
// run-time values here.
#include <heapwright/c/obstack.h>

#include "obstack_shared.h"

#include <stddef.h>

struct heapwright_obstack_chunk {
    struct heapwright_obstack_chunk* below;
    char* end;
    char objects[];
};

typedef struct heapwright_obstack_chunk Chunk;

enum {
    kUsualChunk = 4096 - 32, // so that with malloc's overhead it fits into a page
    kUsualAlignment = _Alignof(max_align_t),
};

static char* aligned(const struct obstack* h, char* address) {
    return address + ((0 - (uintptr_t)address) & h->mask_);
}

static char* firstObject(const struct obstack* h, Chunk* chunk) {
    char* first = aligned(h, chunk->objects);
    return first > chunk->end ? chunk->end : first;
}

/// Adds a chunk of `whole` bytes on top; null if there is no memory and the handler returned.
static Chunk* addChunk(struct obstack* h, size_t whole) {
    Chunk* chunk = h->hasArgument_ ? h->allocate_.withArgument(h->argument_, whole)
                                   : h->allocate_.plain(whole);
    if (chunk == NULL)
        return NULL;
    chunk->below = h->chunk_;
    chunk->end = (char*)chunk + whole;
    h->chunk_ = chunk;
    h->end_ = chunk->end;
    return chunk;
}

static void release(struct obstack* h, Chunk* chunk) {
    if (h->hasArgument_)
        h->release_.withArgument(h->argument_, chunk);
    else
        h->release_.plain(chunk);
}

static int begin(struct obstack* h, size_t size, size_t alignment) {
    h->mask_ = (alignment == 0 ? kUsualAlignment : alignment) - 1;
    h->chunkSize_ = size == 0 ? kUsualChunk : size;
    if (h->chunkSize_ < sizeof(Chunk) + 2 * (h->mask_ + 1))
        h->chunkSize_ = sizeof(Chunk) + 2 * (h->mask_ + 1);
    h->chunk_ = NULL;
    h->holdsEmpty_ = 0;
    Chunk* chunk = addChunk(h, h->chunkSize_);
    if (chunk == NULL)
        heapwrightObstackFail();
    h->object_ = h->next_ = firstObject(h, chunk);
    return 1;
}

int heapwright_obstack_begin(struct obstack* h, size_t size, size_t alignment,
                             void* (*allocate)(size_t), void (*releaseChunk)(void*)) {
    h->allocate_.plain = allocate;
    h->release_.plain = releaseChunk;
    h->argument_ = NULL;
    h->hasArgument_ = 0;
    return begin(h, size, alignment);
}

int heapwright_obstack_begin_with_argument(struct obstack* h, size_t size, size_t alignment,
                                           void* (*allocate)(void*, size_t),
                                           void (*releaseChunk)(void*, void*), void* argument) {
    h->allocate_.withArgument = allocate;
    h->release_.withArgument = releaseChunk;
    h->argument_ = argument;
    h->hasArgument_ = 1;
    return begin(h, size, alignment);
}

/// Moves the object under construction to a new chunk with room for `size` more bytes. A chunk that
/// contained only this object is freed.
void heapwright_obstack_new_chunk(struct obstack* h, size_t size) {
    const size_t have = (size_t)(h->next_ - h->object_);
    size_t whole = 0;
    if (__builtin_add_overflow(size, have + have / 8 + sizeof(Chunk) + h->mask_ + 100, &whole))
        heapwrightObstackFail();
    Chunk* before = h->chunk_;
    Chunk* chunk = addChunk(h, whole < h->chunkSize_ ? h->chunkSize_ : whole);
    if (chunk == NULL)
        heapwrightObstackFail();
    char* object = firstObject(h, chunk);
    memcpy(object, h->object_, have);
    if (!h->holdsEmpty_ && h->object_ == firstObject(h, before)) {
        chunk->below = before->below;
        release(h, before);
    }
    h->object_ = object;
    h->next_ = object + have;
    h->holdsEmpty_ = 0;
}

static int holds(const Chunk* chunk, const void* object) {
    return (uintptr_t)object > (uintptr_t)chunk && (uintptr_t)object <= (uintptr_t)chunk->end;
}

/// Removes chunks until the newest one contains the object; all of them if it is null.
void heapwright_obstack_free_chunks(struct obstack* h, void* object) {
    Chunk* chunk = h->chunk_;
    while (chunk != NULL && !holds(chunk, object)) {
        Chunk* below = chunk->below;
        release(h, chunk);
        chunk = below;
        h->holdsEmpty_ = 1; // an object without bytes may be at its start
    }
    h->chunk_ = chunk;
    if (chunk != NULL) {
        h->object_ = h->next_ = object;
        h->end_ = chunk->end;
    } else if (object != NULL) {
        heapwrightObstackForeign();
    } else {
        h->object_ = h->next_ = h->end_ = NULL;
    }
}

int heapwright_obstack_empty_p(const struct obstack* h) {
    return h->chunk_->below == NULL && h->next_ == firstObject(h, h->chunk_);
}

size_t heapwright_obstack_memory_used(const struct obstack* h) {
    size_t used = 0;
    for (const Chunk* chunk = h->chunk_; chunk != NULL; chunk = chunk->below)
        used += (size_t)(chunk->end - (const char*)chunk);
    return used;
}
