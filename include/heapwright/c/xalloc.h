/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Xalloc for C: one area of memory in which a new object always follows the last one in use.
 * Freeing the last object moves the pointer back over all dead objects before it. An object freed
 * in the middle stays until then. It suits parsers and other programs that free roughly in the
 * opposite order of allocation. A program that never frees its last object gets no memory back.
 *
 *     heapwright_xalloc_init(30 << 20);
 *     struct node* node = heapwright_xalloc(sizeof *node);
 *     heapwright_xfree(node);
 *     heapwright_xalloc_end();
 *
 * These functions use one area of the program. heapwright_xarea_* do the same with any number of
 * areas. If HEAPWRIGHT_XALLOC_SHORT_NAMES is defined before this header, `xalloc` and `xfree` are
 * names of the first two. Objects are aligned to 16. A request returns null if the area is full.
 * The area comes from malloc.
 * Cost: 8 bytes for each object, rounded up to a multiple of 16.
 * Threads: no lock. An area, including the program's, belongs to one thread at a time.
 */
#ifndef HEAPWRIGHT_C_XALLOC_H
#define HEAPWRIGHT_C_XALLOC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes an area of `size` bytes for the program. Returns 0 if there is no memory, or one was
 * taken already. */
int heapwright_xalloc_init(size_t size);

/* Null if the area is full, or there is none. */
void* heapwright_xalloc(size_t size);

/* Null is ignored. */
void heapwright_xfree(void* object);

/* Resizes the last object in use in place, or moves another object to the end and copies the
 * bytes that both sizes have. The program must know the old size. Returns null, and changes
 * nothing, if the area is full. */
void* heapwright_xrealloc(void* object, size_t old_size, size_t size);

/* Frees all objects in one step. */
void heapwright_xfree_all(void);

/* Frees the area; another may be taken. */
void heapwright_xalloc_end(void);

struct heapwright_xarea;

/* An area of `size` bytes; null if there is no memory. */
struct heapwright_xarea* heapwright_xarea_create(size_t size);
void heapwright_xarea_destroy(struct heapwright_xarea* area);
void* heapwright_xarea_alloc(struct heapwright_xarea* area, size_t size);
void heapwright_xarea_free(struct heapwright_xarea* area, void* object);
void* heapwright_xarea_realloc(struct heapwright_xarea* area, void* object, size_t old_size,
                               size_t size);
void heapwright_xarea_free_all(struct heapwright_xarea* area);

#ifdef HEAPWRIGHT_XALLOC_SHORT_NAMES
#define xalloc heapwright_xalloc
#define xfree heapwright_xfree
#endif

#ifdef __cplusplus
}
#endif

#endif
