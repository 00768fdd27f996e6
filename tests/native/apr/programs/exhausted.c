/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What happens when memory runs out, in one pool and in the middle of nesting. */
#include "common.h"

#include <sys/resource.h>

static unsigned calls;

static int no_memory(int code) {
    MUST(code == APR_ENOMEM);
    ++calls;
    return 0;
}

static void in_one_pool(apr_pool_t* top) {
    apr_pool_t* pool = pool_in(top);
    unsigned long count = 0;
    while (apr_palloc(pool, 100000) != NULL) {
        ++count;
    }
    printf("many %d, told %u\n", count > 100, calls);
    while (apr_palloc(pool, 10) != NULL) { /* what is left */
    }
    printf("told %u\n", calls);
    const char* text = apr_psprintf(pool, "%5000d", 1);
    printf("text %d, told %u\n", text == NULL, calls);
    apr_pool_t* inner = NULL;
    while (apr_pool_create(&inner, pool) == APR_SUCCESS) { /* where a pool takes little */
    }
    printf("no pool %d, told %u\n", inner == NULL, calls);
    apr_pool_destroy(pool);
}

static void while_nesting(apr_pool_t* top) {
    calls = 0;
    apr_pool_t* pool = top;
    apr_pool_t* inner = NULL;
    unsigned long count = 0;
    while (apr_pool_create(&inner, pool) == APR_SUCCESS) {
        pool = inner;
        ++count;
    }
    printf("many %d, told %u\n", count > 1000, calls);
    apr_pool_clear(top);
    printf("again %d\n", apr_palloc(pool_in(top), 100000) != NULL);
}

/* The stock library comes back from nested pools by recursion: it needs a stack by then. */
static int use_stack(void) {
    volatile char stack[4 << 20];
    for (size_t i = 0; i < sizeof stack; i += 4096) {
        stack[i] = 1;
    }
    return stack[4096];
}

int main(void) {
    begin();
    MUST(use_stack() == 1);
    apr_allocator_t* allocator = NULL;
    apr_pool_t* top = NULL;
    MUST(apr_allocator_create(&allocator) == APR_SUCCESS);
    MUST(apr_pool_create_ex(&top, NULL, no_memory, allocator) == APR_SUCCESS);
    apr_allocator_owner_set(allocator, top);
    apr_allocator_max_free_set(allocator, 1);
    const struct rlimit limit = {100 << 20, 100 << 20};
    MUST(setrlimit(RLIMIT_AS, &limit) == 0);
    for (int round = 0; round < 2; ++round) {
        calls = 0;
        in_one_pool(top);
        while_nesting(top);
    }
    apr_pool_destroy(top);
    return 0;
}
