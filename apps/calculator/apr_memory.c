// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// APR pools, with single frees if the preloaded library has them.
#include "apr_pool.h"
#include "memory_kinds.h"

#include <apr_general.h>

static int openPool(struct CalculatorPool* pool) {
    apr_pool_t* made = NULL;
    if (apr_initialize() != APR_SUCCESS || apr_pool_create(&made, NULL) != APR_SUCCESS)
        return 0;
    *pool = aprPool(made, 1);
    return 1;
}

static void closePool(struct CalculatorPool* pool) {
    apr_pool_destroy(pool->context);
    apr_terminate();
}

const struct MemoryKind kMemoryKinds[] = {{"apr", openPool, closePool}, {NULL, NULL, NULL}};
