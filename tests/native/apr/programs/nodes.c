/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Allocators as programs and bucket allocators use them: nodes, whose head is public. What is kept
 * for reuse is not looked at here (kept.c). */
#include "common.h"

#include <apr_allocator.h>
#include <apr_thread_mutex.h>

#include <stdint.h>

static apr_allocator_t* allocator;

static void sizes(void) {
    static const apr_size_t wanted[] = {0,    1,    4000, 4056,  4057,  8151,    8152,
                                        8153, 8192, 9000, 12248, 12249, 1000000, SIZE_MAX - 4000};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
        printf("%zu -> %zu\n", wanted[i], apr_allocator_align(allocator, wanted[i]));
    }
    printf("none %d\n", apr_allocator_alloc(allocator, SIZE_MAX - 4000) == NULL);
}

static apr_memnode_t* node_of(apr_size_t size) {
    apr_memnode_t* node = apr_allocator_alloc(allocator, size);
    MUST(node != NULL && node->next == NULL);
    MUST(node->first_avail == (char*)node + APR_MEMNODE_T_SIZE);
    const apr_size_t room = (apr_size_t)(node->endp - node->first_avail);
    MUST(room >= size && (apr_size_t)(node->endp - (char*)node) == (node->index + 1) * 4096u);
    memset(node->first_avail, 0x77, room);
    node->first_avail += room; /* both belong to its user until it is freed */
    node->ref = &node->next;
    return node;
}

static void lists(void) {
    for (int round = 0; round < 20; ++round) {
        apr_memnode_t* list = NULL;
        for (apr_size_t size = 1; size < 400000; size = size * 3 / 2 + 700) {
            apr_memnode_t* node = node_of(size);
            node->next = list;
            list = node;
        }
        apr_allocator_free(allocator, list);
    }
}

int main(void) {
    begin();
    MUST(apr_allocator_create(&allocator) == APR_SUCCESS);
    printf("new %d %d\n", apr_allocator_owner_get(allocator) == NULL,
           apr_allocator_mutex_get(allocator) == NULL);
    sizes();
    lists();
    apr_allocator_max_free_set(allocator, 1);
    lists();
    apr_allocator_max_free_set(allocator, 100000);
    lists();
    apr_allocator_max_free_set(allocator, APR_ALLOCATOR_MAX_FREE_UNLIMITED);
    apr_pool_t* pool = NULL;
    MUST(apr_pool_create_ex(&pool, NULL, NULL, allocator) == APR_SUCCESS);
    apr_thread_mutex_t* mutex = NULL;
    MUST(apr_thread_mutex_create(&mutex, APR_THREAD_MUTEX_DEFAULT, pool) == APR_SUCCESS);
    apr_allocator_mutex_set(allocator, mutex);
    apr_allocator_owner_set(allocator, pool);
    printf("set %d %d\n", apr_allocator_owner_get(allocator) == pool,
           apr_allocator_mutex_get(allocator) == mutex);
    lists();
    apr_palloc(pool_in(pool), 100000);
    apr_pool_destroy(pool); /* and the allocator, with a mutex that is gone before */
    MUST(apr_allocator_create(&allocator) == APR_SUCCESS);
    lists();
    apr_allocator_destroy(allocator);
    return 0;
}
