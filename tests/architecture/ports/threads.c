// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A program for another C library or processor: threads that allocate, forked children, a signal
// handler, and the proof that granary serves all of them. With an argument the children are forked
// before the threads start, because qemu-user cannot fork beside threads.
#define _GNU_SOURCE
#include <heapwright/c/granary.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kThreads = 3, kSteps = 20000, kObjects = 50 };

static void* work(void* result) {
    unsigned char* objects[kObjects] = {0};
    size_t sizes[kObjects] = {0};
    for (size_t i = 0; i < kSteps; ++i) {
        const size_t at = i % kObjects;
        for (size_t byte = 0; byte < sizes[at]; byte += 97)
            if (objects[at][byte] != (unsigned char)at)
                abort();
        free(objects[at]);
        sizes[at] = i * 7919 % (i % 500 == 0 ? 400000 : 3000);
        objects[at] = i % 3 == 0 ? calloc(1, sizes[at]) : malloc(sizes[at]);
        if (objects[at] == NULL)
            abort();
        memset(objects[at], (int)at, sizes[at]);
    }
    for (size_t at = 0; at < kObjects; ++at)
        free(objects[at]);
    return result;
}

static void handle(int signal) {
    (void)signal;
    free(malloc(100));
}

static int forkChildren(void) {
    for (int i = 0; i < 5; ++i) {
        const pid_t child = fork();
        int status = 1;
        if (child == 0) {
            work(NULL);
            _exit(0);
        }
        raise(SIGUSR1);
        if (waitpid(child, &status, 0) != child || status != 0)
            return 0;
    }
    return 1;
}

int main(int count, char** words) {
    (void)words;
    struct heapwright_granary_figures before, with;
    pthread_t threads[kThreads];
    if (heapwright_granary_statistics == NULL)
        return 2; // another malloc
    signal(SIGUSR1, handle);
    if (count > 1 && !forkChildren())
        return 4;
    for (int i = 0; i < kThreads; ++i)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 3;
    if (count == 1 && !forkChildren())
        return 4;
    for (int i = 0; i < kThreads; ++i)
        pthread_join(threads[i], NULL);
    heapwright_granary_statistics(&before);
    void* const object = malloc(5000000);
    heapwright_granary_statistics(&with);
    if (object == NULL || with.live_bytes - before.live_bytes < 5000000 ||
        with.large_objects != before.large_objects + 1)
        return 5;
    free(object);
    puts("granary");
    return 0;
}
