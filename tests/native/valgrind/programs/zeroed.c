/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * zeroed: two threads, one after the other, each calls calloc and free and realloc and free on the
 * same memory, and frees nothing twice.
 */
#include <pthread.h>
#include <stdlib.h>

static void* run(void* unused) {
    for (int i = 0; i < 20; ++i) {
        char* volatile zeros = calloc(3, 100);
        zeros[0] = 1;
        zeros = realloc(zeros, 400);
        zeros[399] = 1;
        free(zeros);
    }
    return unused;
}

int main(void) {
    for (int i = 0; i < 2; ++i) {
        pthread_t thread;
        pthread_create(&thread, NULL, run, NULL);
        pthread_join(thread, NULL);
    }
    return 0;
}
