/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Heaps for C: a program gives each tenant or subsystem a heap of its own, with a name, a quota and
 * statistics. Destroying a heap frees all its objects at once. Any thread may allocate from any
 * heap, and may free an object that another thread allocated.
 *
 *     struct heapwright_heap* tenant = heapwright_heap_create("tenant 7", 64 << 20);
 *     char* line = heapwright_heap_malloc(tenant, 80);
 *     line = heapwright_heap_realloc(tenant, line, 800);
 *     heapwright_heap_free(tenant, line);
 *     ...
 *     heapwright_heap_destroy(tenant);      also frees all other objects
 *
 * Objects are aligned to 16. Every function that allocates returns null if the quota is exhausted
 * or the system has no memory, and then changes nothing. Memory comes from the system and not from
 * malloc, in chunks that no other heap shares.
 * Cost: an object of up to 16 KiB takes the bytes of its size class and has no header; a larger one
 * takes whole pages. A call takes one lock and two atomic additions. A heap in use maps 4 MiB of
 * addresses for objects of up to 16 KiB, and 4 MiB for larger ones. It touches 40 KiB of them for
 * its first objects. Destroying a heap costs one system call for each chunk, and touches no object.
 *
 * Threads: a heap has four parts with a lock each. A thread allocates from one of them. Every
 * function may be called at any time by any thread, except where a precondition says otherwise, but
 * by no signal handler. A forked child has copies of all heaps, and may use and destroy them.
 * Misuse: an object that is freed twice or to the wrong heap ends the program with a line that
 * names the error. So does an address that is no object.
 */
#ifndef HEAPWRIGHT_C_HEAP_H
#define HEAPWRIGHT_C_HEAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The quota of a heap without one. */
#define HEAPWRIGHT_HEAP_UNLIMITED ((size_t) - 1)

struct heapwright_heap;

/* Creates a heap. The name is copied, and cut off after 47 bytes; null counts as an empty name.
 * `quota` limits the usable bytes of all live objects (heapwright_heap_size). Returns null if there
 * is no memory. */
struct heapwright_heap* heapwright_heap_create(const char* name, size_t quota);

/* Frees all objects, returns all memory to the system, and frees the heap itself. Null is ignored.
 * Pre: no other thread uses the heap. */
void heapwright_heap_destroy(struct heapwright_heap* heap);

/* Frees all objects and returns their memory to the system. The heap may be used again.
 * Pre: no other thread uses the heap. */
void heapwright_heap_clear(struct heapwright_heap* heap);

/* Allocates `size` bytes. A size of 0 counts as 1. */
void* heapwright_heap_malloc(struct heapwright_heap* heap, size_t size);

/* Allocates `count` elements of `size` bytes, all zero; null on overflow. */
void* heapwright_heap_calloc(struct heapwright_heap* heap, size_t count, size_t size);

/* Allocates at a multiple of `alignment`; null if that is not a power of two. */
void* heapwright_heap_aligned_alloc(struct heapwright_heap* heap, size_t alignment, size_t size);

/* Changes the size of an object of this heap, which may move. The quota must have room for both
 * places of an object that moves. A null object counts as an object without bytes. Returns null,
 * and keeps the object, if there is no memory. A size of 0 frees nothing. */
void* heapwright_heap_realloc(struct heapwright_heap* heap, void* object, size_t size);

/* Frees an object of this heap. Null is ignored. */
void heapwright_heap_free(struct heapwright_heap* heap, void* object);

/* The usable bytes of an object of this heap, at least the requested size. */
size_t heapwright_heap_size(struct heapwright_heap* heap, void* object);

/* Whether the address lies in a chunk of this heap. Takes no lock. */
int heapwright_heap_owns(const struct heapwright_heap* heap, const void* address);

/* The name, as long as the heap exists. */
const char* heapwright_heap_name(const struct heapwright_heap* heap);

/* Changes the quota. Live objects beyond a lower quota stay; every request is then refused until
 * enough of them are freed. */
void heapwright_heap_set_quota(struct heapwright_heap* heap, size_t quota);

/* Returns free memory to the system. Returns 1 if there was any, otherwise 0. */
int heapwright_heap_trim(struct heapwright_heap* heap);

/* The figures of a heap. A later version may add fields at the end. */
struct heapwright_heap_figures {
    uint64_t live_objects;
    uint64_t live_bytes;   /* their usable bytes; at most the quota, unless that was lowered */
    uint64_t peak_bytes;   /* the most live bytes since the heap was created */
    uint64_t quota_bytes;  /* UINT64_MAX without a quota */
    uint64_t mapped_bytes; /* addresses from the system, with or without memory */
    uint64_t allocations;  /* since the heap was created; a realloc that copies counts as one */
    uint64_t refusals;     /* since the heap was created: requests that returned null */
};

/* Writes the figures to the first `size` bytes of `figures`, where size is `sizeof *figures`. Each
 * figure is exact. Figures of a heap that other threads use at the time may be of different
 * moments. */
void heapwright_heap_statistics(struct heapwright_heap* heap,
                                struct heapwright_heap_figures* figures, size_t size);

/* Calls `visit` with every heap of the process, the newest first. The walk ends when `visit`
 * returns a value other than 0, and returns that value; otherwise 0.
 * Pre: `visit` creates, clears and destroys no heap, and does not fork. */
int heapwright_heap_each(int (*visit)(struct heapwright_heap* heap, void* argument),
                         void* argument);

#ifdef __cplusplus
}
#endif

#endif
