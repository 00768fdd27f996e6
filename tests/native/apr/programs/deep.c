/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Pools inside each other, to the depth of the argument, on a stack that has no room for recursion.
 * */
#include "common.h"

#include <pthread.h>

static unsigned long depth;
static unsigned long ended;

static apr_status_t count(void* number) {
    MUST((unsigned long)(size_t)number == depth - 1 - ended); /* the innermost first */
    ++ended;
    return APR_SUCCESS;
}

static apr_pool_t* nest(apr_pool_t* top) {
    apr_pool_t* pool = top;
    for (size_t i = 0; i < depth; ++i) {
        pool = pool_in(pool);
        apr_pool_cleanup_register(pool, (void*)i, count, count);
    }
    return pool;
}

static void* on_a_small_stack(void* nothing) {
    apr_pool_t* top = pool_in(NULL);
    MUST(apr_pool_is_ancestor(top, nest(top)));
    apr_pool_clear(top);
    printf("%lu\n", ended);
    ended = 0;
    nest(top);
    apr_pool_destroy(top);
    printf("%lu\n", ended);
    return nothing;
}

int main(int count_of_words, char** words) {
    MUST(count_of_words == 2);
    depth = strtoul(words[1], NULL, 10);
    begin();
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 * 1024);
    pthread_t thread;
    MUST(pthread_create(&thread, &small, on_a_small_stack, NULL) == 0);
    pthread_join(thread, NULL);
    return 0;
}
