/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reaps for C: regions whose objects can also be freed one by one. Until something is freed a reap
 * is as quick as a region; what is freed then serves again. Reaps nest: clearing or destroying one
 * destroys the reaps that were created in it.
 *
 *     struct heapwright_reap* request = heapwright_reap_create(NULL);
 *     char* line = heapwright_reap_malloc(request, 80);
 *     struct heapwright_reap* query = heapwright_reap_create(request);
 *     line = heapwright_reap_realloc(request, line, 800);
 *     heapwright_reap_free(request, line);
 *     ...
 *     heapwright_reap_destroy(request);      query and all that was still there are gone as well
 *
 * Objects stand on multiples of 16. Every function that gives memory gives null if there is none,
 * and then nothing has changed. Memory comes from malloc, in chunks that double in size from 8 KiB
 * to 1 MiB. When the reap is cleared or destroyed they go back, or wait for the next reap or region
 * of the process, up to 4 MiB in all.
 * Cost of an object: an addition, a compare and a store, inline, and 8 bytes; 32 bytes at least.
 * An empty reap takes about 150 bytes, wherever it is nested.
 *
 * Threads: a reap has no lock; a reap and all that were created in it belong to one thread at a
 * time. Reaps that have no ancestor in common may be used by as many threads as there are. For
 * other needs there is heapwright_reap_create_shared.
 * Misuse: the library libheapwright-c-checked has the same functions, and ends the program with a
 * line that names the mistake where an object or a reap is freed twice, to the wrong reap, or after
 * it has gone with another.
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

/* What the inline function needs; programs leave it alone. */
struct heapwright_reap {
    uintptr_t next_; /* where the next object's tag goes, 8 bytes before the object */
    uintptr_t end_;  /* where the memory at hand ends; the same as next_ while none is to be used */
};

/* A reap, inside `parent` or, if that is null, by itself. */
struct heapwright_reap* heapwright_reap_create(struct heapwright_reap* parent);

/* The same with a lock of its own: any thread may use it at any time, and may create reaps inside
 * it, shared or not, and destroy them. It is cleared or destroyed when nobody uses it, or any that
 * is inside. */
struct heapwright_reap* heapwright_reap_create_shared(struct heapwright_reap* parent);

/* Destroys the reaps inside, frees all objects, and the reap itself. Null is nothing. */
void heapwright_reap_destroy(struct heapwright_reap* reap);

/* Destroys the reaps inside and frees all objects; the reap may be used again. */
void heapwright_reap_clear(struct heapwright_reap* reap);

/* The reap in which this one was created; null if it is by itself. */
struct heapwright_reap* heapwright_reap_parent(const struct heapwright_reap* reap);

/* Where the memory at hand does not do; part of heapwright_reap_malloc. */
void* heapwright_reap_refill(struct heapwright_reap* reap, size_t size);

/* An object of `size` bytes, 0 as well as 1. */
static inline void* heapwright_reap_malloc(struct heapwright_reap* reap, size_t size) {
    const size_t room = reap->end_ - reap->next_;
    const size_t block = size <= 24 ? 32 : (size + 8 + 15) / 16 * 16;
    if (size < room && block <= room) { /* the former, so that the latter has not wrapped */
        const uintptr_t place = reap->next_;
        uint64_t tag = block;
        tag = tag << 16 | 0xB7E5; /* its size, and that it is live */
        memcpy(HEAPWRIGHT_POINTER(place), &tag, sizeof tag);
        reap->next_ = place + block;
        return HEAPWRIGHT_POINTER(place + sizeof tag);
    }
    return heapwright_reap_refill(reap, size);
}

/* Frees an object of this very reap. Null is nothing. */
void heapwright_reap_free(struct heapwright_reap* reap, void* object);

/* Changes the size of an object of this very reap, which may move; null is an object of no bytes.
 * If there is no memory the object stays as it is and null is given. A size of 0 frees nothing. */
void* heapwright_reap_realloc(struct heapwright_reap* reap, void* object, size_t size);

/* `count` elements of `size` bytes, all zero; null if their product is no size. */
void* heapwright_reap_calloc(struct heapwright_reap* reap, size_t count, size_t size);

/* An object at a multiple of `alignment`, a power of two; null if it is none. */
void* heapwright_reap_aligned_alloc(struct heapwright_reap* reap, size_t alignment, size_t size);

/* A copy of `size` bytes; of a string. */
void* heapwright_reap_copy(struct heapwright_reap* reap, const void* bytes, size_t size);
char* heapwright_reap_strdup(struct heapwright_reap* reap, const char* string);

/* How many bytes of an object of this reap may be used: as many as were asked for, or more. */
size_t heapwright_reap_size(const struct heapwright_reap* reap, const void* object);

/* Whether the address lies in a chunk of this very reap (not of one inside it). */
int heapwright_reap_owns(const struct heapwright_reap* reap, const void* address);

/* How many bytes this very reap has from malloc, without those of the reaps inside. */
size_t heapwright_reap_memory_used(const struct heapwright_reap* reap);

#ifdef __cplusplus
}
#endif

#endif
