/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The common parts of all programs with a known truth. They are a steady pace, work that frees
 * everything that it allocates, and the choice of a scenario by its name.
 */
#ifndef ANSWERS_PACE_H
#define ANSWERS_PACE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A function that a stack has to show. */
#define PLACE __attribute__((noinline))

/* A variable whose content counts, although the program does not read it. */
#define KEPT __attribute__((used))

/* A block that was written to, so that it is resident. */
#define TAKE(size) touched(malloc(size), size)

__attribute__((always_inline)) static inline char* touched(void* block, size_t size) {
    memset(block, 1, size);
    __asm__ volatile("" : : "r"(block) : "memory"); /* the compiler must keep it */
    return (char*)block;
}

/* Waits until `us` have passed since the last call. The time is absolute, so the rate of a program
 * does not depend on the load of the machine. */
static inline void pace(unsigned us) {
    static __thread struct timespec next;
    if (next.tv_sec == 0) {
        clock_gettime(CLOCK_MONOTONIC, &next);
    }
    next.tv_nsec += (long)us * 1000;
    while (next.tv_nsec >= 1000000000L) {
        next.tv_nsec -= 1000000000L;
        ++next.tv_sec;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
}

/* Work that frees all that it takes. */
__attribute__((unused)) static PLACE void serve(unsigned number) {
    char* request = TAKE(200 + number % 700);
    char* answer = TAKE(64 + number % 2000);
    free(request);
    free(answer);
}

/* Overwrites what earlier calls left on the stack, which may look like a pointer. */
__attribute__((unused)) static PLACE void wipe(void) {
    volatile char room[16384];
    for (size_t i = 0; i < sizeof room; ++i) {
        room[i] = 0;
    }
}

struct Scenario {
    const char* name;
    void (*run)(void);
};

static inline int run_scenario(const struct Scenario* all, size_t count, int words, char** word) {
    for (size_t i = 0; i < count && words > 1; ++i) {
        if (strcmp(all[i].name, word[1]) == 0) {
            all[i].run();
            wipe();
            return 0;
        }
    }
    fprintf(stderr, "%s: no such scenario\n", words > 1 ? word[1] : "(none)");
    return 2;
}

#define SCENARIOS(...)                                                                             \
    int main(int words, char** word) {                                                             \
        const struct Scenario all[] = {__VA_ARGS__};                                               \
        return run_scenario(all, sizeof all / sizeof *all, words, word);                           \
    }

#endif
