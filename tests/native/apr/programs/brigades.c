/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Bucket allocators and brigades, which take their nodes from a pool's allocator themselves and
 * hang on pools by cleanups. */
#include "common.h"

#include <apr_allocator.h>
#include <apr_buckets.h>

static void flat(apr_bucket_brigade* brigade) {
    char text[20000];
    apr_size_t length = sizeof text;
    MUST(apr_brigade_flatten(brigade, text, &length) == APR_SUCCESS);
    unsigned long hash = 0;
    for (apr_size_t i = 0; i < length; ++i) {
        hash = hash * 31 + (unsigned char)text[i];
    }
    printf("%zu bytes, %lx\n", length, hash);
}

static void fill(apr_bucket_brigade* brigade, apr_pool_t* pool, apr_bucket_alloc_t* buckets) {
    for (int i = 0; i < 100; ++i) {
        MUST(apr_brigade_printf(brigade, NULL, NULL, "line %d of %s\n", i, "many") == APR_SUCCESS);
        char* text = apr_psprintf(pool, "in the pool %d\n", i);
        APR_BRIGADE_INSERT_TAIL(brigade, apr_bucket_pool_create(text, strlen(text), pool, buckets));
        APR_BRIGADE_INSERT_HEAD(brigade, apr_bucket_heap_create("heap\n", 5, NULL, buckets));
        APR_BRIGADE_INSERT_TAIL(brigade, apr_bucket_immortal_create("still\n", 6, buckets));
    }
}

static void through(apr_pool_t* pool, apr_bucket_alloc_t* buckets) {
    apr_pool_t* request = pool_in(pool);
    apr_bucket_brigade* brigade = apr_brigade_create(pool, buckets);
    fill(brigade, request, buckets);
    flat(brigade);
    apr_pool_destroy(request); /* its buckets become ones of their own */
    flat(brigade);
    apr_bucket_brigade* rest =
        apr_brigade_split(brigade, APR_BUCKET_NEXT(APR_BUCKET_NEXT(APR_BRIGADE_FIRST(brigade))));
    flat(brigade);
    flat(rest);
    for (apr_size_t size = 1; size < 40000; size *= 3) { /* also such as need nodes of their own */
        char* object = apr_bucket_alloc(size, buckets);
        memset(object, 1, size);
        apr_bucket_free(object);
    }
    apr_brigade_destroy(rest);
    apr_brigade_destroy(brigade);
}

int main(void) {
    begin();
    apr_pool_t* pool = pool_in(NULL);
    through(pool, apr_bucket_alloc_create(pool));
    apr_allocator_t* allocator = NULL;
    MUST(apr_allocator_create(&allocator) == APR_SUCCESS);
    apr_pool_t* connection = NULL;
    MUST(apr_pool_create_ex(&connection, pool, NULL, allocator) == APR_SUCCESS);
    apr_allocator_owner_set(allocator, connection);
    apr_bucket_alloc_t* buckets = apr_bucket_alloc_create_ex(allocator);
    for (int i = 0; i < 10; ++i) {
        through(connection, buckets);
        apr_pool_clear(connection);
    }
    apr_bucket_alloc_destroy(buckets);
    apr_pool_destroy(pool);
    return 0;
}
