/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Regions for C: objects are made one after another and freed all at once. Regions nest: clearing
 * or destroying one destroys the regions that were created in it.
 *
 *     struct heapwright_region* request = heapwright_region_create(NULL);
 *     char* line = heapwright_region_alloc(request, 80);
 *     struct heapwright_region* query = heapwright_region_create(request);
 *     ...
 *     heapwright_region_destroy(request);      line and query are gone as well
 *
 * Objects stand on multiples of 16. Every function that gives memory gives null if there is none,
 * and then nothing has changed. Memory comes from malloc, in chunks that double in size from 8 KiB
 * to 1 MiB. When the region is cleared or destroyed they go back, or wait for the next region or
 * reap of the process, up to 4 MiB in all.
 * Cost of an object: an addition and a compare, inline, and up to 15 bytes. An empty region takes
 * about 100 bytes, wherever it is nested.
 * Threads: a region has no lock; a region and all that were created in it belong to one thread at a
 * time. Regions that have no ancestor in common may be used by as many threads as there are.
 */
#ifndef HEAPWRIGHT_C_REGION_H
#define HEAPWRIGHT_C_REGION_H

#include <stddef.h>
#include <stdint.h>

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
struct heapwright_region {
    uintptr_t next_; /* where the next object starts */
    uintptr_t end_;  /* where the memory at hand ends */
};

/* A region, inside `parent` or, if that is null, by itself. */
struct heapwright_region* heapwright_region_create(struct heapwright_region* parent);

/* Destroys the regions inside, frees all objects, and the region itself. Null is nothing. */
void heapwright_region_destroy(struct heapwright_region* region);

/* Destroys the regions inside and frees all objects; the region may be used again. */
void heapwright_region_clear(struct heapwright_region* region);

/* The region in which this one was created; null if it is by itself. */
struct heapwright_region* heapwright_region_parent(const struct heapwright_region* region);

/* Where the memory at hand is used up; part of heapwright_region_alloc. */
void* heapwright_region_refill(struct heapwright_region* region, size_t size);

/* An object of `size` bytes, 0 as well as 1. */
static inline void* heapwright_region_alloc(struct heapwright_region* region, size_t size) {
    if (size - 1 < region->end_ - region->next_) { /* not so for 0 */
        const uintptr_t object = region->next_;
        region->next_ = object + (size + 15) / 16 * 16;
        return HEAPWRIGHT_POINTER(object);
    }
    return heapwright_region_refill(region, size);
}

/* The same at a multiple of `alignment`, a power of two; null if it is none. */
void* heapwright_region_alloc_aligned(struct heapwright_region* region, size_t alignment,
                                      size_t size);

/* `count` elements of `size` bytes, all zero; null if their product is no size. */
void* heapwright_region_calloc(struct heapwright_region* region, size_t count, size_t size);

/* A copy of `size` bytes; of a string. */
void* heapwright_region_copy(struct heapwright_region* region, const void* bytes, size_t size);
char* heapwright_region_strdup(struct heapwright_region* region, const char* string);

/* Whether the address lies in a chunk of this very region (not of one inside it). */
int heapwright_region_owns(const struct heapwright_region* region, const void* address);

/* How many bytes this very region has from malloc, without those of the regions inside. */
size_t heapwright_region_memory_used(const struct heapwright_region* region);

#ifdef __cplusplus
}
#endif

#endif
