/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reaps for C: regions whose objects can also be freed one by one. Until the first free a reap is
 * as fast as a region. Freed objects are reused. Reaps nest: clearing or destroying one destroys
 * the reaps that were created in it.
 *
 *     struct heapwright_reap* request = heapwright_reap_create(NULL);
 *     char* line = heapwright_reap_malloc(request, 80);
 *     struct heapwright_reap* query = heapwright_reap_create(request);
 *     line = heapwright_reap_realloc(request, line, 800);
 *     heapwright_reap_free(request, line);
 *     ...
 *     heapwright_reap_destroy(request);      also destroys query and frees all other objects
 *
 * Objects are aligned to 16. Every function that allocates returns null if there is no memory, and
 * then changes nothing. Memory comes from malloc, in chunks that double in size from 8 KiB to 1
 * MiB. When the reap is cleared or destroyed they are freed. Or they are kept for the next reap or
 * region of the process, up to 4 MiB in all.
 * Cost: an object takes an addition, a compare and a store, inline, and 8 bytes; 32 bytes at least.
 * An empty reap takes about 150 bytes, at any nesting.
 *
 * Threads: a reap has no lock. A reap and all reaps created in it belong to one thread at a time.
 * Several threads may use reaps without a common ancestor. For other needs there is
 * heapwright_reap_create_shared.
 * Misuse: the library libheapwright-c-checked has the same functions. It ends the program with a
 * line that names the error. The errors are an object or a reap that is freed twice, freed to the
 * wrong reap, or used after its parent has ended.
 */
#ifndef HEAPWRIGHT_C_REAP_H
#define HEAPWRIGHT_C_REAP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef HEAPWRIGHT_POINTER
#ifdef __cplusplus
#define HEAPWRIGHT_POINTER(address) reinterpret_cast<void*>(address)
#else
#define HEAPWRIGHT_POINTER(address) ((void*)(address))
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* For the inline function; not for programs. */
struct heapwright_reap {
    uintptr_t next_; /* place of the next object's tag, 8 bytes before the object */
    /* End of the present memory; equal to next_ while the pointer must not be used. */
    uintptr_t end_;
};

/* Creates a reap inside `parent`, or without a parent if that is null. */
struct heapwright_reap* heapwright_reap_create(struct heapwright_reap* parent);

/* As heapwright_reap_create, with a lock of its own. Any thread may use it at any time, and may
 * create and destroy reaps inside it, shared or not. Pre of clearing and destroying: no other
 * thread uses it or a reap inside it. */
struct heapwright_reap* heapwright_reap_create_shared(struct heapwright_reap* parent);

/* Destroys the reaps inside, frees all objects, and frees the reap itself. Null is ignored. */
void heapwright_reap_destroy(struct heapwright_reap* reap);

/* Destroys the reaps inside and frees all objects. The reap may be used again. */
void heapwright_reap_clear(struct heapwright_reap* reap);

/* The reap in which this one was created; null if it has no parent. */
struct heapwright_reap* heapwright_reap_parent(const struct heapwright_reap* reap);

/* The slow path of heapwright_reap_malloc. */
void* heapwright_reap_refill(struct heapwright_reap* reap, size_t size);

/* Allocates `size` bytes. A size of 0 counts as 1. */
static inline void* heapwright_reap_malloc(struct heapwright_reap* reap, size_t size) {
    const size_t room = reap->end_ - reap->next_;
    const size_t block = size <= 24 ? 32 : (size + 8 + 15) / 16 * 16;
    /* The first test ensures that `block` has not wrapped around. */
    if (size < room && block <= room) {
        const uintptr_t place = reap->next_;
        uint64_t tag = block;
        tag = tag << 16 | 0xB7E5; /* its size, and the state "live" */
        memcpy(HEAPWRIGHT_POINTER(place), &tag, sizeof tag);
        reap->next_ = place + block;
        return HEAPWRIGHT_POINTER(place + sizeof tag);
    }
    return heapwright_reap_refill(reap, size);
}

/* Frees an object of this reap. Null is ignored. */
void heapwright_reap_free(struct heapwright_reap* reap, void* object);

/* Changes the size of an object of this reap, which may move. A null object counts as an object
 * without bytes. Returns null, and keeps the object, if there is no memory. A size of 0 frees
 * nothing. */
void* heapwright_reap_realloc(struct heapwright_reap* reap, void* object, size_t size);

/* Allocates `count` elements of `size` bytes, all zero; null on overflow. */
void* heapwright_reap_calloc(struct heapwright_reap* reap, size_t count, size_t size);

/* Allocates at a multiple of `alignment`; null if that is not a power of two. */
void* heapwright_reap_aligned_alloc(struct heapwright_reap* reap, size_t alignment, size_t size);

/* Allocates a copy of `size` bytes, or of a string. */
void* heapwright_reap_copy(struct heapwright_reap* reap, const void* bytes, size_t size);
char* heapwright_reap_strdup(struct heapwright_reap* reap, const char* string);

/* The usable bytes of an object of this reap, at least the requested size. */
size_t heapwright_reap_size(const struct heapwright_reap* reap, const void* object);

/* Whether the address lies in a chunk of this reap, not of one inside it. */
int heapwright_reap_owns(const struct heapwright_reap* reap, const void* address);

/* The bytes that this reap has taken from malloc, without those of the reaps inside. */
size_t heapwright_reap_memory_used(const struct heapwright_reap* reap);

#ifdef __cplusplus
}
#endif

#endif
