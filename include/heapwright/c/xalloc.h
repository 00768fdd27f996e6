/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Xalloc for C: one area of memory in which a new object always stands right after the last one in
 * use. Freeing that one moves back past everything dead before it; an object freed in the middle
 * waits for the last. Made for parsers and others that free about in the opposite order of making:
 * a program that never frees its last object gets nothing back.
 *
 *     heapwright_xalloc_init(30 << 20);
 *     struct node* node = heapwright_xalloc(sizeof *node);
 *     heapwright_xfree(node);
 *     heapwright_xalloc_end();
 *
 * These work on one area for the program; heapwright_xarea_* do the same on as many as it likes.
 * With HEAPWRIGHT_XALLOC_SHORT_NAMES defined before this is included, `xalloc` and `xfree` are
 * names for the first two. Objects stand on multiples of 16. Null is given where the area is full.
 * The area comes from malloc. Cost of an object: 8 bytes and what rounds it up to 16. Threads: no
 * lock; an area, and so that of the program, belongs to one thread at a time.
 */
#ifndef HEAPWRIGHT_C_XALLOC_H
#define HEAPWRIGHT_C_XALLOC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes an area of `size` bytes for the program; 0 if there is none, or one has been taken. */
int heapwright_xalloc_init(size_t size);

/* Null if the area is full, or there is none. */
void* heapwright_xalloc(size_t size);

/* Null is nothing. */
void heapwright_xfree(void* object);

/* Makes the last object in use larger or smaller where it stands, or moves another to the end with
 * as many bytes as both sizes have: its own, which the program must know, and the new one. Null,
 * and nothing has changed, if the area is full. */
void* heapwright_xrealloc(void* object, size_t old_size, size_t size);

/* Frees all objects in one step. */
void heapwright_xfree_all(void);

/* Gives the area back; another may be taken. */
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
