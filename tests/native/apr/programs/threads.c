/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Pools and threads. Many make pools in one at the same time. Pools that one thread has cleared
 * continue in another, as a server does with those of its connections. */
#include "common.h"

#include <apr_allocator.h>

#include <pthread.h>

enum { threads = 4, rounds = 400, waiting = 16 };

static apr_pool_t* shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static apr_pool_t* recycled[waiting];
static unsigned cleanups;

static apr_status_t count(void* nothing) {
    (void)nothing;
    __atomic_add_fetch(&cleanups, 1, __ATOMIC_RELAXED);
    return APR_SUCCESS;
}

static void work(apr_pool_t* pool, unsigned seed) {
    for (int i = 0; i < 50; ++i) {
        char* object = apr_palloc(pool, (seed * 7 + (unsigned)i * 131) % 3000);
        if (object != NULL && (seed + (unsigned)i) % 3 == 0) {
            apr_psprintf(pool, "%u of %u", (unsigned)i, seed);
        }
    }
    apr_pool_cleanup_register(pool, NULL, count, apr_pool_cleanup_null);
    apr_pool_t* inner = pool_in(pool);
    apr_pool_cleanup_register(inner, NULL, count, apr_pool_cleanup_null);
    strcpy(apr_palloc(inner, 20), "inside");
}

/* Puts a pool where others find it; gives another for it, or null. */
static apr_pool_t* exchange(apr_pool_t* pool, unsigned place) {
    pthread_mutex_lock(&lock);
    apr_pool_t* other = recycled[place % waiting];
    recycled[place % waiting] = pool;
    pthread_mutex_unlock(&lock);
    return other;
}

static apr_pool_t* connection(void) {
    apr_allocator_t* allocator = NULL;
    apr_pool_t* pool = NULL;
    MUST(apr_allocator_create(&allocator) == APR_SUCCESS);
    apr_allocator_max_free_set(allocator, 100000);
    MUST(apr_pool_create_ex(&pool, shared, NULL, allocator) == APR_SUCCESS);
    apr_allocator_owner_set(allocator, pool);
    return pool;
}

static void* thread(void* which) {
    const unsigned me = (unsigned)(size_t)which;
    apr_pool_t* mine = connection();
    for (unsigned round = 0; round < rounds; ++round) {
        work(mine, round * threads + me);
        apr_pool_clear(mine);
        mine = exchange(mine, round * 5 + me * 3);
        if (mine == NULL) {
            mine = connection();
        }
        apr_pool_t* brief = pool_in(shared); /* while others do so, from an allocator of all */
        work(brief, round);
        apr_pool_destroy(brief);
    }
    apr_pool_destroy(mine);
    return NULL;
}

int main(void) {
    begin();
    shared = pool_in(NULL);
    pthread_t running[threads];
    for (size_t i = 0; i < threads; ++i) {
        MUST(pthread_create(&running[i], NULL, thread, (void*)i) == 0);
    }
    for (size_t i = 0; i < threads; ++i) {
        pthread_join(running[i], NULL);
    }
    apr_pool_destroy(shared); /* with those that wait */
    printf("cleanups %u of %u\n", cleanups, 4u * threads * rounds);
    return 0;
}
