/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Single frees in APR's pools: what libheapwright-apr.so adds to the interface that it serves.
 *
 *     char* line = apr_palloc(pool, 80);
 *     ...
 *     apr_pfree(pool, line);              the pool gives this memory out again
 *
 * An object that is not freed goes with its pool, as always. A program that shall also run on the
 * stock library asks whether the function is there, and does without it:
 *
 *     extern void apr_pfree(struct apr_pool_t* pool, void* object) __attribute__((weak));
 *     if (apr_pfree != NULL) { apr_pfree(pool, line); }
 */
#ifndef HEAPWRIGHT_APR_H
#define HEAPWRIGHT_APR_H

#ifdef __cplusplus
extern "C" {
#endif

struct apr_pool_t;

/* Frees one object of this very pool: what apr_palloc gave, or any function that takes its memory
 * from it, such as apr_pstrdup. Null is nothing. What is freed twice, or is no object, ends the
 * program with a message. As everything in a pool it is for one thread at a time. */
void apr_pfree(struct apr_pool_t* pool, void* object);

#ifdef __cplusplus
}
#endif

#endif
