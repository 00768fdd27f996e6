/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * asked WHAT: asks granary for something and says what it got, one NAME=VALUE a line. Ends with 2
 * if there is no granary. The starter of the program decides what the lines should be. */
#define _GNU_SOURCE
#include <heapwright/c/granary.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void pause_briefly(void) {
    const struct timespec time = {0, 5000000};
    nanosleep(&time, NULL);
}

static struct heapwright_granary_figures figures(void) {
    struct heapwright_granary_figures now;
    heapwright_granary_statistics(&now);
    return now;
}

/* How many threads the process has. */
static int threads(void) {
    char line[256];
    int count = 0;
    FILE* const status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        sscanf(line, "Threads: %d", &count);
    }
    if (status != NULL) {
        fclose(status);
    }
    return count;
}

static void tell(const char* name) {
    char value[64];
    const size_t length = heapwright_granary_get(name, value, sizeof value);
    printf("%s=%s (%zu)\n", name, value, length);
}

static int settings(void) {
    char small[4];
    tell("return");
    printf("set=%d\n", heapwright_granary_set("return", "at-once"));
    tell("return");
    printf("wrong=%d\n", heapwright_granary_set("return", "soon"));
    printf("unknown=%d\n", heapwright_granary_set("colour", "red"));
    tell("return");
    tell("colour");
    printf("cut=%zu %s\n", heapwright_granary_get("return", small, sizeof small), small);
    printf("measured=%zu\n", heapwright_granary_get("return", NULL, 0));
    return 0;
}

/* --- figures, and memory that returns --- */

static int statistics(void) {
    const struct heapwright_granary_figures start = figures();
    void* objects[1000];
    for (int i = 0; i < 1000; ++i) {
        objects[i] = malloc(112);
    }
    void* const large = malloc(1 << 20);
    const struct heapwright_granary_figures full = figures();
    for (int i = 0; i < 1000; ++i) {
        free(objects[i]);
    }
    free(large);
    const struct heapwright_granary_figures end = figures();
    printf("objects=%ld\n", (long)(full.live_objects - start.live_objects));
    printf("bytes=%ld\n", (long)(full.live_bytes - full.large_bytes) -
                              (long)(start.live_bytes - start.large_bytes));
    printf("large=%ld\n", (long)(full.large_objects - start.large_objects));
    printf("large_enough=%d\n", full.large_bytes - start.large_bytes >= 1 << 20);
    printf("left=%ld\n", (long)(end.live_objects - start.live_objects));
    printf("locks=%d\n", end.lock_takes > start.lock_takes);
    return 0;
}

/* Makes a good deal of memory free that was touched. */
static void soil(void) {
    enum { blocks = 16, bytes = 1 << 20 };
    void* block[blocks];
    for (int i = 0; i < blocks; ++i) {
        block[i] = malloc(bytes);
        memset(block[i], 1, bytes);
    }
    for (int i = 0; i < blocks; ++i) {
        free(block[i]);
    }
}

static int purge(void) {
    soil();
    const struct heapwright_granary_figures soiled = figures();
    printf("dirty=%d\n", soiled.dirty_bytes >= 4 << 20);
    printf("returned=%d\n", heapwright_granary_purge() >= soiled.dirty_bytes);
    printf("left=%llu\n", (unsigned long long)figures().dirty_bytes);
    return 0;
}

/* After a while only the figures of the heap are read, which change nothing. */
static int idle(void) {
    soil();
    int waits = 0;
    while (figures().dirty_bytes != 0 && ++waits < 4000) {
        pause_briefly();
    }
    printf("left=%llu\n", (unsigned long long)figures().dirty_bytes);
    printf("threads=%d\n", threads());
    return 0;
}

/* A second thread that does nothing until the process ends. */
static void* sleep_on(void* nothing) {
    for (;;) {
        pause();
    }
    return nothing;
}

static int idle_with_thread(void) {
    pthread_t other;
    pthread_create(&other, NULL, sleep_on, NULL);
    soil();
    for (int waits = 0; (figures().dirty_bytes != 0 || threads() != 2) && waits < 4000; ++waits) {
        pause_briefly();
    }
    printf("left=%llu\n", (unsigned long long)figures().dirty_bytes);
    printf("threads=%d\n", threads());
    return 0;
}

static int wait_some(void) {
    soil();
    for (int waits = 0; waits < 60; ++waits) {
        pause_briefly();
    }
    printf("left=%d\n", figures().dirty_bytes != 0);
    printf("threads=%d\n", threads());
    return 0;
}

static int wait_with_thread(void) {
    pthread_t other;
    pthread_create(&other, NULL, sleep_on, NULL);
    return wait_some();
}

static void* end_at_once(void* nothing) {
    return nothing;
}

static int wait_after_thread(void) {
    pthread_t other;
    pthread_create(&other, NULL, end_at_once, NULL);
    pthread_join(other, NULL);
    return wait_some();
}

static void* soil_and_end(void* nothing) {
    soil();
    return nothing;
}

/* The C library frees the stacks of many threads under a lock that starting a thread needs. */
static int join_many(void) {
    enum { rounds = 5, count = 16 };
    pthread_t others[count];
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < count; ++i) {
            pthread_create(&others[i], NULL, soil_and_end, NULL);
        }
        for (int i = 0; i < count; ++i) {
            pthread_join(others[i], NULL);
        }
    }
    puts("joined=1");
    return 0;
}

static int set_background(void) {
    printf("threads=%d\n", threads());
    heapwright_granary_set("background", "on");
    printf("threads=%d\n", threads());
    heapwright_granary_set("background", "off");
    for (int waits = 0; threads() != 1 && waits < 4000; ++waits) {
        pause_briefly();
    }
    printf("threads=%d\n", threads());
    return 0;
}

static void allocate(void) {
    void* objects[2000];
    for (int i = 0; i < 2000; ++i) {
        objects[i] = malloc(500);
    }
    for (int i = 0; i < 2000; ++i) {
        free(objects[i]);
    }
}

static int fork_in_between(void) {
    allocate();
    printf("threads=%d\n", threads());
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        allocate();
        printf("threads=%d\n", threads());
        soil();
        for (int waits = 0; threads() != 1 && figures().dirty_bytes != 0 && waits < 4000; ++waits) {
            pause_briefly();
        }
        printf("left=%llu\n", (unsigned long long)figures().dirty_bytes);
        exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    printf("child=%d\n", status);
    return 0;
}

static void* end_last(void* nothing) {
    for (int i = 0; i < 20; ++i) {
        pause_briefly();
    }
    puts("last");
    fflush(stdout);
    return nothing;
}

/* The first thread ends, and then the last of the others: that is the end of the process. */
static int leave_first(void) {
    pthread_t thread;
    allocate();
    pthread_create(&thread, NULL, end_last, NULL);
    pthread_detach(thread);
    pthread_exit(NULL);
}

/* --- where statistics are printed --- */

static int close_and_end(void) {
    fclose(stdout);
    close(2);
    return 0;
}

/* Waits, without a request of the heap, to be killed. */
static int wait_for_signal(void) {
    static char line[] = "ready\n";
    allocate();
    const ssize_t written = write(1, line, sizeof line - 1);
    for (int waits = 0; written > 0 && waits < 12000; ++waits) {
        pause_briefly();
    }
    return 1;
}

/* Goes on allocating after a signal came. */
static int raise_and_go_on(void) {
    raise(SIGUSR2);
    allocate();
    puts("went on");
    return 0;
}

static int fork_and_end(void) {
    for (int i = 0; i < 3; ++i) {
        if (fork() == 0) {
            free(malloc(100));
            exit(0);
        }
    }
    while (wait(NULL) > 0) {
    }
    return 0;
}

static int print(void) {
    printf("table=%d\n", heapwright_granary_print(1, 0));
    fflush(stdout);
    heapwright_granary_print(1, 1);
    close(1);
    return heapwright_granary_print(1, 0) != 0 ? 0 : 1;
}

/* The same figures twice: nothing is allocated between them. */
static int print_metrics(void) {
    allocate();
    heapwright_granary_print(1, HEAPWRIGHT_GRANARY_JSON);
    return heapwright_granary_print(1, HEAPWRIGHT_GRANARY_OPENMETRICS);
}

static int nothing(void) {
    return 0;
}

int main(int count, char** arguments) {
    static const struct {
        const char* name;
        int (*run)(void);
    } what[] = {{"settings", settings},

                {"statistics", statistics},
                {"purge", purge},
                {"idle", idle},
                {"idle-with-thread", idle_with_thread},
                {"wait-with-thread", wait_with_thread},
                {"wait-alone", wait_some},
                {"join-many", join_many},
                {"wait-after-thread", wait_after_thread},
                {"set-background", set_background},
                {"fork", fork_in_between},
                {"leave-first", leave_first},
                {"close", close_and_end},
                {"wait", wait_for_signal},
                {"raise", raise_and_go_on},
                {"fork-and-end", fork_and_end},
                {"print", print},
                {"print-metrics", print_metrics},
                {"nothing", nothing}};
    if (heapwright_granary_set == NULL) {
        return 2;
    }
    for (size_t i = 0; count == 2 && i < sizeof what / sizeof *what; ++i) {
        if (strcmp(arguments[1], what[i].name) == 0) {
            return what[i].run();
        }
    }
    return 3;
}
