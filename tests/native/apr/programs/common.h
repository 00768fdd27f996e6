/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the programs of pools have in common: they begin, say what happens, and end. */
#ifndef COMMON_H
#define COMMON_H

#include <apr_errno.h>
#include <apr_general.h>
#include <apr_pools.h>
#include <apr_strings.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program unless it is so. */
#define MUST(so)                                                                                   \
    do {                                                                                           \
        if (!(so)) {                                                                               \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #so);                       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static inline apr_pool_t* pool_in(apr_pool_t* parent) {
    apr_pool_t* pool = NULL;
    MUST(apr_pool_create(&pool, parent) == APR_SUCCESS && pool != NULL);
    return pool;
}

static inline void begin(void) {
    MUST(apr_initialize() == APR_SUCCESS);
    atexit(apr_terminate);
}

/* A cleanup that says its data, a text. */
static inline apr_status_t say(void* text) {
    printf("%s\n", (const char*)text);
    return APR_SUCCESS;
}

static inline apr_status_t say_child(void* text) {
    printf("child %s\n", (const char*)text);
    return APR_SUCCESS;
}

#endif
