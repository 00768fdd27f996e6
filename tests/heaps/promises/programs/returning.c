// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What stays resident after a program has freed all that it had.
//
//     returning small|large|mixed MEBIBYTES THREADS QUIET|BUSY WAIT_MS
//
// The threads allocate together so much, touch it, and then free all of it. One of them waits and
// looks, up to so long, until less than a tenth is resident; the others wait, too. BUSY: it goes on
// asking for a little meanwhile, as a program does that goes on; QUIET: it asks for nothing. Says
// in one line of JSON how many bytes were resident before, at most, and in the end, and for how
// long it waited.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_barrier_t full, gone, over;
static size_t each_bytes;
static const char* kind;

static long resident(void) {
    // To look must ask the heap for nothing: no stdio.
    char text[128] = "";
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, text, sizeof text - 1) <= 0) {
        exit(2);
    }
    close(file);
    return strtol(strchr(text, ' '), NULL, 10) * sysconf(_SC_PAGESIZE);
}

static size_t size_of(size_t number) {
    static const size_t small[] = {16, 48, 64, 100, 200, 320, 500, 1000, 3000, 8000};
    static const size_t large[] = {20000, 70000, 200000, 1000000, 5000000};
    const int is_large = kind[0] == 'l' || (kind[0] == 'm' && number % 50 == 0);
    return is_large ? large[number / 50 % 5] : small[number % 10];
}

static void* fill_and_free(void* unused) {
    void** list = NULL;
    size_t total = 0;
    for (size_t number = 0; total < each_bytes; ++number) {
        const size_t size = size_of(number);
        void** const object = malloc(size);
        if (object == NULL) {
            exit(2);
        }
        memset(object, 1, size);
        *object = list;
        list = object;
        total += size;
    }
    pthread_barrier_wait(&full);
    pthread_barrier_wait(&full);
    while (list != NULL) {
        void** const next = *list;
        free(list);
        list = next;
    }
    pthread_barrier_wait(&gone);
    pthread_barrier_wait(&over);
    return unused;
}

static long now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

int main(int count, char** words) {
    if (count != 6) {
        return 2;
    }
    kind = words[1];
    const unsigned threads = (unsigned)atoi(words[3]);
    each_bytes = ((size_t)atoi(words[2]) << 20) / threads;
    const int busy = words[4][0] == 'B';
    const long limit = atol(words[5]);
    pthread_t* const thread = calloc(threads, sizeof *thread);
    pthread_barrier_init(&full, NULL, threads + 1);
    pthread_barrier_init(&gone, NULL, threads + 1);
    pthread_barrier_init(&over, NULL, threads + 1);
    const long before = resident();
    for (unsigned each = 0; each < threads; ++each) {
        if (pthread_create(&thread[each], NULL, fill_and_free, NULL) != 0) {
            return 2;
        }
    }
    pthread_barrier_wait(&full);
    const long most = resident();
    pthread_barrier_wait(&full);
    pthread_barrier_wait(&gone);
    const long began = now_ms();
    long last = resident();
    while (last - before > (most - before) / 10 && now_ms() - began < limit) {
        usleep(5000);
        if (busy) {
            for (unsigned step = 0; step < 100; ++step) {
                free(malloc(100));
                free(malloc(40000));
            }
        }
        last = resident();
    }
    printf("{\"before\": %ld, \"most\": %ld, \"last\": %ld, \"waited_ms\": %ld}\n", before, most,
           last, now_ms() - began);
    pthread_barrier_wait(&over);
    for (unsigned each = 0; each < threads; ++each) {
        pthread_join(thread[each], NULL);
    }
    return 0;
}
