// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Prints by how many KiB a process grew for THREADS threads that wait. One after the other has
// allocated and freed one object of each size class of granary up to 8 KiB, ROUNDS times. With 0
// rounds the threads make no request, so the growth is that of their stacks and thread-local
// storage.
//
//     many_threads THREADS ROUNDS
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 128, STACK = 64 << 10 };

static sem_t idle;
static sem_t end;
static size_t sizes[MOST];
static int count;
static int rounds;

static void find_sizes(void) {
    for (size_t size = 16; size <= 1024; size += 16) {
        sizes[count++] = size;
    }
    for (size_t start = 1024; start < 8192; start *= 2) {
        const int steps = start < 4096 ? 8 : 4;
        for (int step = 1; step <= steps; ++step) {
            sizes[count++] = start + (size_t)step * start / (size_t)steps;
        }
    }
}

static void* use(void* unused) {
    void* objects[MOST];
    for (int round = 0; round < rounds; ++round) {
        for (int each = 0; each < count; ++each) {
            objects[each] = malloc(sizes[each]);
            if (objects[each] == NULL) {
                abort();
            }
            memset(objects[each], 1, sizes[each]);
        }
        for (int each = 0; each < count; ++each) {
            free(objects[each]);
        }
    }
    sem_post(&idle);
    sem_wait(&end);
    return unused;
}

/// The anonymous memory of the process. Pages of files depend on other processes.
static long anonymous_kib(void) {
    char line[256];
    long found = -1;
    FILE* const file = fopen("/proc/self/smaps_rollup", "r");
    if (file == NULL) {
        return -1;
    }
    while (found < 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "Anonymous:", 10) == 0) {
            found = strtol(line + 10, NULL, 10);
        }
    }
    fclose(file);
    return found;
}

int main(int argc, char** argv) {
    const int threads = argc == 3 ? atoi(argv[1]) : 0;
    rounds = argc == 3 ? atoi(argv[2]) : 0;
    pthread_t* const all = calloc((size_t)threads + 1, sizeof *all);
    if (threads <= 0 || all == NULL) {
        return 2;
    }
    find_sizes();
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK);
    sem_init(&idle, 0, 0);
    sem_init(&end, 0, 0);
    const long before = anonymous_kib();
    for (int each = 0; each < threads; ++each) {
        if (pthread_create(&all[each], &small, use, NULL) != 0) {
            return 3;
        }
        sem_wait(&idle); // one after the other, so that no more objects are live with more threads
    }
    const long now = anonymous_kib();
    if (before < 0 || now < 0) {
        return 4;
    }
    printf("%ld\n", now - before);
    for (int each = 0; each < threads; ++each) {
        sem_post(&end);
    }
    for (int each = 0; each < threads; ++each) {
        pthread_join(all[each], NULL);
    }
    free(all);
    return 0;
}
