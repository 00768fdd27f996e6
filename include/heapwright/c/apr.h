/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Single frees in APR's pools: an extension of the APR interface by libheapwright-apr.so.
 *
 *     char* line = apr_palloc(pool, 80);
 *     ...
 *     apr_pfree(pool, line);              the pool reuses this memory
 *
 * An object that is not freed ends with its pool, as always. A program that must also run on the
 * stock library tests whether the function exists:
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

/* Frees one object of this pool, from apr_palloc or from any function that allocates in the
 * pool, such as apr_pstrdup. Null is ignored. A double free, or an address that is no object,
 * ends the program with a message. Like all pool functions, it is for one thread at a time. */
void apr_pfree(struct apr_pool_t* pool, void* object);

#ifdef __cplusplus
}
#endif

#endif
