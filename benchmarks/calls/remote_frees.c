// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory that stays resident after threads have freed what other threads allocated.
//
//     remote_frees MEBIBYTES THREADS WAIT_MS SIZE
//
// THREADS threads allocate MEBIBYTES together, each of SIZE bytes or, with 0, of 16 to 8000 bytes,
// and write to each object. THREADS other threads then free all objects. For WAIT_MS, each of the
// freeing threads allocates and frees one object per millisecond, as a program does that continues.
// All threads stay alive. Prints the resident bytes beyond those of the start: full, at once after
// the frees, and after the wait.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 64 };

static pthread_barrier_t full, freed, over;
static void** lists[MOST_THREADS];
static size_t each_bytes, one_size;
static long wait_ms;

static long resident(void) {
    // No stdio here: it would allocate.
    char text[128] = "";
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, text, sizeof text - 1) <= 0) {
        exit(2);
    }
    close(file);
    return strtol(strchr(text, ' '), NULL, 10) * sysconf(_SC_PAGESIZE);
}

static void* allocate_all(void* index) {
    static const size_t sizes[] = {16, 48, 64, 100, 200, 320, 500, 1000, 3000, 8000};
    void** list = NULL;
    for (size_t total = 0, number = 0; total < each_bytes; ++number) {
        const size_t size =
            one_size > 0 ? one_size : sizes[number % (sizeof sizes / sizeof *sizes)];
        void** const object = malloc(size);
        if (object == NULL) {
            exit(2);
        }
        memset(object, 1, size);
        *object = list;
        list = object;
        total += size;
    }
    lists[(size_t)index] = list;
    pthread_barrier_wait(&full);
    pthread_barrier_wait(&over);
    return NULL;
}

static void* free_all(void* index) {
    pthread_barrier_wait(&full);
    pthread_barrier_wait(&full);
    for (void** list = lists[(size_t)index]; list != NULL;) {
        void** const next = *list;
        free(list);
        list = next;
    }
    pthread_barrier_wait(&freed);
    const struct timespec pause = {.tv_nsec = 1000000};
    for (long turn = 0; turn < wait_ms; ++turn) {
        void* volatile object = malloc(100);
        free(object);
        nanosleep(&pause, NULL);
    }
    pthread_barrier_wait(&over);
    return NULL;
}

int main(int argc, char** argv) {
    const size_t threads = argc == 5 ? strtoul(argv[2], NULL, 10) : 0;
    if (threads == 0 || threads > MOST_THREADS) {
        fputs("usage: remote_frees MEBIBYTES THREADS WAIT_MS SIZE\n", stderr);
        return 2;
    }
    each_bytes = (strtoul(argv[1], NULL, 10) << 20) / threads;
    wait_ms = strtol(argv[3], NULL, 10);
    one_size = strtoul(argv[4], NULL, 10);
    const unsigned all = (unsigned)threads;
    pthread_barrier_init(&full, NULL, all + 1);
    pthread_barrier_init(&freed, NULL, all + 1);
    pthread_barrier_init(&over, NULL, 2 * all + 1);
    const long before = resident();
    pthread_t thread;
    for (size_t index = 0; index < threads; ++index) {
        pthread_create(&thread, NULL, allocate_all, (void*)index);
        pthread_detach(thread);
    }
    pthread_barrier_wait(&full);
    for (size_t index = 0; index < threads; ++index) {
        pthread_create(&thread, NULL, free_all, (void*)index);
        pthread_detach(thread);
    }
    pthread_barrier_wait(&full);
    const long most = resident();
    pthread_barrier_wait(&full);
    pthread_barrier_wait(&freed);
    const long at_once = resident();
    pthread_barrier_wait(&over);
    printf("%ld,%ld,%ld\n", most - before, at_once - before, resident() - before);
    return 0;
}
