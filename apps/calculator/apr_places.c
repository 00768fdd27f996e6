// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The pools of APR, as far as whoever is preloaded has single frees with them.
#include "apr_pool.h"
#include "places.h"

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

const struct Place kPlaces[] = {{"apr", openPool, closePool}, {NULL, NULL, NULL}};
