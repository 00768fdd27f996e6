/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Marks moments between allocations of 1001, 1002 and 1003 bytes. With the argument `threads`, four
 * threads mark 300 moments each, and get SIGUSR2 in between. With `fork`, a child marks one, too.
 * With `long`, the name is too long. */
#include <heapwright/c/mark.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, MARKS = 300 };

static void* mark_often(void* argument) {
    char name[32];
    for (int count = 0; count < MARKS; ++count) {
        snprintf(name, sizeof name, "thread %d, %d", *(int*)argument, count);
        heapwright_mark(name);
        if (count % 10 == 0) {
            raise(SIGUSR2);
        }
    }
    return NULL;
}

static void from_threads(void) {
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int thread = 0; thread < THREADS; ++thread) {
        numbers[thread] = thread;
        pthread_create(&threads[thread], NULL, mark_often, &numbers[thread]);
    }
    for (int thread = 0; thread < THREADS; ++thread) {
        pthread_join(threads[thread], NULL);
    }
}

int main(int count, char** words) {
    const char* const how = count > 1 ? words[1] : "";
    free(malloc(1001));
    heapwright_mark("first");
    free(malloc(1002));
    heapwright_mark("second");
    free(malloc(1003));
    if (strcmp(how, "threads") == 0) {
        from_threads();
    } else if (strcmp(how, "fork") == 0) {
        if (fork() == 0) {
            heapwright_mark("child");
            return 0;
        }
        wait(NULL);
        heapwright_mark("parent");
    } else if (strcmp(how, "long") == 0) {
        char name[500];
        memset(name, 'x', sizeof name);
        name[sizeof name - 1] = '\0';
        heapwright_mark(name);
    }
    return 0;
}
