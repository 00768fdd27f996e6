/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Forks twenty times while two threads allocate and others come and go; each child allocates. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_bool over;

static void* busy(void* unused) {
    while (!atomic_load(&over)) {
        free(malloc(100));
        usleep(10);
    }
    return unused;
}

static void* brief(void* unused) {
    free(malloc(200));
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, busy, NULL);
    pthread_create(&threads[1], NULL, busy, NULL);
    int failed = 0;
    for (int i = 0; i < 20; ++i) {
        pthread_t passing;
        pthread_create(&passing, NULL, brief, NULL);
        const pid_t child = fork();
        if (child == 0) {
            for (int j = 0; j < 100; ++j) {
                free(malloc(444));
            }
            _exit(0);
        }
        int status = 1;
        waitpid(child, &status, 0);
        failed |= status;
        pthread_join(passing, NULL);
    }
    atomic_store(&over, 1);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return failed != 0;
}
