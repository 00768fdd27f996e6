/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Regions for C: objects are allocated one after another and freed all at once. Regions nest:
 * clearing or destroying one destroys the regions that were created in it.
 *
 *     struct heapwright_region* request = heapwright_region_create(NULL);
 *     char* line = heapwright_region_alloc(request, 80);
 *     struct heapwright_region* query = heapwright_region_create(request);
 *     ...
 *     heapwright_region_destroy(request);      also frees line and destroys query
 *
 * Objects are aligned to 16. Every function that allocates returns null if there is no memory, and
 * then changes nothing. Memory comes from malloc, in chunks that double in size from 8 KiB to 1
 * MiB. When the region is cleared or destroyed they are freed. Or they are kept for the next region
 * or reap of the process, up to 4 MiB in all.
 * Cost: an object takes an addition and a compare, inline, and up to 15 bytes. An empty region
 * takes about 100 bytes, at any nesting.
 *
 * Threads: a region has no lock. A region and all regions created in it belong to one thread at a
 * time. Several threads may use regions without a common ancestor.
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

/* For the inline function; not for programs. */
struct heapwright_region {
    uintptr_t next_; /* start of the next object */
    uintptr_t end_;  /* end of the present memory */
};

/* Creates a region inside `parent`, or without a parent if that is null. */
struct heapwright_region* heapwright_region_create(struct heapwright_region* parent);

/* Destroys the regions inside, frees all objects, and frees the region itself. Null is ignored. */
void heapwright_region_destroy(struct heapwright_region* region);

/* Destroys the regions inside and frees all objects. The region may be used again. */
void heapwright_region_clear(struct heapwright_region* region);

/* The region in which this one was created; null if it has no parent. */
struct heapwright_region* heapwright_region_parent(const struct heapwright_region* region);

/* The slow path of heapwright_region_alloc. */
void* heapwright_region_refill(struct heapwright_region* region, size_t size);

/* Allocates `size` bytes. A size of 0 counts as 1. */
static inline void* heapwright_region_alloc(struct heapwright_region* region, size_t size) {
    if (size - 1 < region->end_ - region->next_) { /* false for 0 */
        const uintptr_t object = region->next_;
        region->next_ = object + (size + 15) / 16 * 16;
        return HEAPWRIGHT_POINTER(object);
    }
    return heapwright_region_refill(region, size);
}

/* Allocates at a multiple of `alignment`; null if that is not a power of two. */
void* heapwright_region_alloc_aligned(struct heapwright_region* region, size_t alignment,
                                      size_t size);

/* Allocates `count` elements of `size` bytes, all zero; null on overflow. */
void* heapwright_region_calloc(struct heapwright_region* region, size_t count, size_t size);

/* Allocates a copy of `size` bytes, or of a string. */
void* heapwright_region_copy(struct heapwright_region* region, const void* bytes, size_t size);
char* heapwright_region_strdup(struct heapwright_region* region, const char* string);

/* Whether the address lies in a chunk of this region, not of one inside it. */
int heapwright_region_owns(const struct heapwright_region* region, const void* address);

/* The bytes that this region has taken from malloc, without those of the regions inside. */
size_t heapwright_region_memory_used(const struct heapwright_region* region);

#ifdef __cplusplus
}
#endif

#endif
