// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A library that starting.c loads and unloads. It allocates when it is loaded, used and unloaded,
// in a thread of its own too, and sets a signal handler.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void* kept;
static __thread char* mine;

static void* in_thread(void* unused) {
    mine = malloc(500);
    char* const other = strdup("what a thread of a library has");
    free(mine);
    free(other);
    return unused;
}

__attribute__((constructor)) static void come(void) {
    kept = calloc(30, 100);
    signal(SIGUSR2, SIG_IGN);
    pthread_t thread;
    if (pthread_create(&thread, NULL, &in_thread, NULL) == 0) {
        pthread_join(thread, NULL);
    }
}

__attribute__((destructor)) static void go(void) {
    kept = realloc(kept, 9000);
    free(kept);
    signal(SIGUSR2, SIG_DFL);
}

void* plugin_make(size_t size) {
    free(mine);
    mine = NULL;
    return malloc(size);
}
