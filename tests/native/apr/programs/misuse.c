/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What ends a program with a message, each way by its name. */
#include "common.h"

#include <heapwright/c/apr.h>

static apr_status_t destroys(void* pool) {
    apr_pool_destroy(pool);
    return APR_SUCCESS;
}

int main(int count, char** words) {
    MUST(count == 2);
    const char* way = words[1];
    begin();
    apr_pool_t* pool = pool_in(NULL);
    apr_pool_t* inner = pool_in(pool);
    char* object = apr_palloc(pool, 100);
    char* last = apr_palloc(pool, 100);
    if (strcmp(way, "free twice") == 0) {
        apr_pfree(pool, object);
        apr_pfree(pool, object);
    } else if (strcmp(way, "free the last twice") == 0) {
        apr_pfree(pool, last);
        apr_pfree(pool, last);
    } else if (strcmp(way, "free the middle") == 0) {
        memset(object, 0, 100);
        apr_pfree(pool, object + 16);
    } else if (strcmp(way, "free no address") == 0) {
        apr_pfree(pool, object + 1);
    } else if (strcmp(way, "destroy twice") == 0) {
        apr_pool_destroy(inner);
        apr_pool_destroy(inner);
    } else if (strcmp(way, "destroy in its own cleanup") == 0) {
        apr_pool_cleanup_register(pool, pool, destroys, apr_pool_cleanup_null);
        apr_pool_destroy(pool);
    } else if (strcmp(way, "destroy while clearing") == 0) {
        apr_pool_cleanup_register(pool, pool, destroys, apr_pool_cleanup_null);
        apr_pool_clear(pool);
    } else if (strcmp(way, "destroy the parent in a cleanup") == 0) {
        apr_pool_cleanup_register(inner, pool, destroys, apr_pool_cleanup_null);
        apr_pool_destroy(inner);
    } else if (strcmp(way, "free in another pool") == 0) {
        apr_pfree(pool_in(NULL), object);
    } else if (strcmp(way, "free in a pool inside") == 0) {
        apr_pfree(inner, object);
    } else if (strcmp(way, "free after clear") == 0) {
        apr_pool_clear(pool);
        apr_pfree(pool, object);
    } else if (strcmp(way, "free in a destroyed pool") == 0) {
        object = apr_palloc(inner, 100);
        apr_pool_destroy(inner);
        apr_pfree(inner, object);
    } else if (strcmp(way, "allocate in a destroyed pool") == 0) {
        apr_pool_destroy(inner);
        apr_palloc(inner, 100);
    } else if (strcmp(way, "create in a destroyed pool") == 0) {
        apr_pool_destroy(inner);
        pool_in(inner);
    } else if (strcmp(way, "clear a destroyed pool") == 0) {
        apr_pool_destroy(inner);
        apr_pool_clear(inner);
    }
    puts("it went on");
    return 0;
}
