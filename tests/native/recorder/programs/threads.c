/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * THREADS threads one wave after another, each wave alive at once, with small stacks. Each
 * allocates, has a key whose destructor allocates in every round, and leaves a block that the main
 * thread frees. */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_barrier_t together;
static pthread_key_t key;

static void round_(void* block) {
    free(block);
    static _Thread_local int rounds;
    if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(key, malloc(333));
    }
}

static void* work(void* unused) {
    (void)unused;
    for (int i = 0; i < 5; ++i) {
        free(malloc(111));
    }
    pthread_setspecific(key, malloc(333));
    pthread_barrier_wait(&together);
    return malloc(222);
}

int main(int count, char** arguments) {
    const int threads = atoi(arguments[1]);
    const int wave = count > 2 ? atoi(arguments[2]) : threads;
    pthread_t* const each = malloc(sizeof *each * (size_t)wave);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
    pthread_key_create(&key, round_);
    pthread_barrier_init(&together, NULL, (unsigned)wave);
    for (int done = 0; done < threads; done += wave) {
        for (int i = 0; i < wave; ++i) {
            if (pthread_create(&each[i], &attributes, work, NULL) != 0) {
                _Exit(3);
            }
        }
        for (int i = 0; i < wave; ++i) {
            void* left;
            pthread_join(each[i], &left);
            free(left);
        }
    }
    free(each);
    return 0;
}
