/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The memory that an allocator keeps for the next request, and its maximum. */
#include "common.h"

#include <apr_allocator.h>

/* The pages that the system has given this program. */
static long in_use(void) {
    long pages = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    MUST(file != NULL && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    return pages;
}

/* How many pages of eight nodes of two pages each an allocator with this limit keeps. */
static long kept(apr_size_t limit) {
    apr_allocator_t* allocator = NULL;
    MUST(apr_allocator_create(&allocator) == APR_SUCCESS);
    apr_allocator_max_free_set(allocator, limit);
    const long before = in_use();
    apr_memnode_t* list = NULL;
    for (int i = 0; i < 8; ++i) {
        apr_memnode_t* node = apr_allocator_alloc(allocator, 100);
        node->next = list;
        list = node;
    }
    apr_allocator_free(allocator, list);
    const long held = in_use() - before;
    apr_allocator_destroy(allocator);
    return held;
}

static void of_a_pool(void) {
    apr_allocator_t* allocator = NULL;
    apr_pool_t* pool = NULL;
    const long without = in_use();
    MUST(apr_allocator_create(&allocator) == APR_SUCCESS);
    apr_allocator_max_free_set(allocator, 10 * 8192);
    MUST(apr_pool_create_ex(&pool, NULL, NULL, allocator) == APR_SUCCESS);
    apr_allocator_owner_set(allocator, pool);
    const long before = in_use();
    for (int i = 0; i < 1000; ++i) {
        apr_palloc(pool, 4000);
    }
    printf("large %d\n", in_use() - before > 900);
    apr_pool_clear(pool);
    printf("small again %d\n", in_use() - before < 22);
    apr_pool_destroy(pool);
    printf("nothing left %d\n", in_use() == without);
}

int main(void) {
    begin();
    in_use(); /* what a first call takes is there */
    static const apr_size_t limits[] = {1, 8192, 8193, 16384, 20000, 40000, 65536, 100000, 0};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i) {
        printf("limit %zu keeps %ld pages\n", limits[i], kept(limits[i]));
    }
    apr_allocator_t* allocator = NULL;
    MUST(apr_allocator_create(&allocator) == APR_SUCCESS);
    apr_memnode_t* first = apr_allocator_alloc(allocator, 100);
    apr_memnode_t* large = apr_allocator_alloc(allocator, 300000);
    apr_allocator_free(allocator, first);
    apr_allocator_free(allocator, large);
    printf("reused %d", apr_allocator_alloc(allocator, 1000) == first);
    printf(" %d\n", apr_allocator_alloc(allocator, 200000) == large);
    apr_allocator_free(allocator, first);
    apr_allocator_free(allocator, large);
    apr_allocator_destroy(allocator);
    of_a_pool();
    return 0;
}
