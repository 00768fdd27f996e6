/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The calculator's memory in a pool of the Apache Portable Runtime. Single frees are there if the
 * program runs on pools that have them (libheapwright-apr.so before APR's own library).
 */
#ifndef HEAPWRIGHT_CALCULATOR_APR_POOL_H
#define HEAPWRIGHT_CALCULATOR_APR_POOL_H

#include "pool.h"

#include <apr_pools.h>

/* Not in the stock library: null there. */
extern void apr_pfree(apr_pool_t* pool, void* object) __attribute__((weak));

static inline void* aprAllocate(void* pool, size_t size) {
    return apr_palloc(pool, size);
}
static inline void aprRelease(void* pool, void* object) {
    apr_pfree(pool, object);
}

static inline struct CalculatorPool aprPool(apr_pool_t* pool, int singleFrees) {
    return (struct CalculatorPool){aprAllocate,
                                   singleFrees && apr_pfree != NULL ? aprRelease : NULL, pool};
}

#endif
