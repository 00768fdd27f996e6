// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Signal handlers that allocate at any point of the program, and that end in every way.
#define _GNU_SOURCE
#include "scenes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <sys/wait.h>

// --- storm: threads that allocate all the time, and signals that come to all of them ------------

enum { RING = 64, KEPT = 32, THREADS = 3 };
struct worker {
    pthread_t thread;
    struct object* ring[RING];         // the program's
    struct object* _Atomic kept[KEPT]; // the handlers'
    _Atomic long handled;
    atomic_bool ready;
};
static struct worker workers[THREADS];
static _Thread_local struct worker* me = NULL;
static _Thread_local volatile sig_atomic_t depth = 0;
static atomic_int working;

static void storm_handler(int number) {
    const int before = errno;
    if (me == NULL || !atomic_load(&me->ready)) {
        return;
    }
    static _Thread_local uint32_t random = 7;
    const long mine = atomic_fetch_add(&me->handled, 1);
    errno = 4711;
    struct object* const own = made(some_size(next_random(&random)), 0x51);
    char* const zeros = calloc(10, 13);
    CHECK(zeros != NULL && zeros[0] == 0 && zeros[129] == 0);
    struct object* grown = realloc(own, own->size + 100);
    CHECK(grown != NULL);
    checked(grown);
    CHECK(errno == 4711);
    free(zeros);
    // What is kept lives on when the handler is over, and is freed by another, or by the program.
    struct object* const old = atomic_exchange(&me->kept[(size_t)mine % KEPT], grown);
    if (old != NULL) {
        unmade(old);
    }
    if (number == SIGUSR2 && depth < 3) {
        ++depth;
        raise(SIGUSR1); // another one inside
        --depth;
    }
    errno = before;
}

static void* storm_worker(void* given) {
    me = given;
    uint32_t random = (uint32_t)(me - workers) * 77 + 1;
    atomic_store(&me->ready, 1);
    for (long i = 0; i < count; ++i) {
        const uint32_t drawn = next_random(&random);
        struct object** const place = &me->ring[drawn % RING];
        if (*place != NULL) {
            unmade(*place);
        }
        *place = made(some_size(next_random(&random)), drawn & 0xFF);
        if (drawn % 16 == 0) { // an object of a handler's, freed outside of it
            struct object* const taken = atomic_exchange(&me->kept[drawn / 16 % KEPT], NULL);
            if (taken != NULL) {
                unmade(taken);
            }
        }
    }
    atomic_store(&me->ready, 0);
    for (size_t i = 0; i < RING; ++i) {
        if (me->ring[i] != NULL) {
            unmade(me->ring[i]);
        }
    }
    for (size_t i = 0; i < KEPT; ++i) {
        struct object* const taken = atomic_exchange(&me->kept[i], NULL);
        if (taken != NULL) {
            unmade(taken);
        }
    }
    atomic_fetch_sub(&working, 1);
    return NULL;
}

static void storm(void) {
    install(SIGUSR1, &storm_handler, SA_RESTART | SA_NODEFER);
    install(SIGUSR2, &storm_handler, SA_RESTART | SA_NODEFER);
    install(SIGALRM, &storm_handler, SA_RESTART);
    atomic_store(&working, THREADS);
    for (int i = 0; i < THREADS; ++i) {
        CHECK(pthread_create(&workers[i].thread, NULL, &storm_worker, &workers[i]) == 0);
    }
    const struct itimerval often = {{0, 100}, {0, 100}};
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    for (unsigned round = 0; atomic_load(&working) > 0; ++round) {
        for (int i = 0; i < THREADS; ++i) {
            if (atomic_load(&workers[i].ready)) {
                pthread_kill(workers[i].thread, round % 2 == 0 ? SIGUSR1 : SIGUSR2);
            }
        }
        usleep(20);
    }
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(workers[i].thread, NULL);
        CHECK(atomic_load(&workers[i].handled) > 0);
    }
}

// --- jumps: handlers that never return -----------------------------------------------------------

static sigjmp_buf target;
static volatile sig_atomic_t may_jump = 0;

static void jumping_handler(int number) {
    (void)number;
    struct object* const object = made(100, 0x33);
    unmade(object);
    if (may_jump) {
        may_jump = 0;
        siglongjmp(target, 1);
    }
}

// Raised where the program is, on the ordinary stack and on an alternate one, a million times.
static void jumps(void) {
    static char stack[64 * 1024];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack, .ss_flags = 0};
    CHECK(sigaltstack(&alternate, NULL) == 0);
    install(SIGUSR1, &jumping_handler, SA_NODEFER);
    install(SIGUSR2, &jumping_handler, SA_NODEFER | SA_ONSTACK);
    struct object* volatile held[16] = {NULL};
    long early = 0;
    for (volatile long i = 0; i < count; ++i) {
        struct object* volatile* const place = &held[i % 16];
        if (*place != NULL) {
            unmade(*place);
        }
        *place = made(some_size((uint32_t)(i * 31)), (uintptr_t)i & 0xFF);
        may_jump = 1;
        if (sigsetjmp(target, 0) == 0) {
            raise(i % 2 == 0 ? SIGUSR1 : SIGUSR2);
            CHECK(!"a handler returned");
        }
        if (i == count / 10) {
            early = resident_kib();
        }
    }
    for (int i = 0; i < 16; ++i) {
        free(held[i]);
    }
    CHECK(resident_kib() < early + 2048); // nothing is lost on the way
}

// A timer strikes anywhere in the program, but the handler jumps only where that is allowed. There,
// no call of the heap is under way, and none of a handler. So it is not interrupted itself.
static void timed_jumps(void) {
    install(SIGALRM, &jumping_handler, 0);
    const struct itimerval often = {{0, 100}, {0, 100}};
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    volatile long jumped = 0;
    for (volatile uint32_t i = 0; jumped < count; ++i) {
        struct object* const object = made(some_size(i), i & 0xFF);
        unmade(object);
        if (sigsetjmp(target, 1) == 0) {
            may_jump = 1;
            for (volatile int wait = 0; wait < 400; ++wait) {
            }
            may_jump = 0;
        } else {
            jumped = jumped + 1;
        }
    }
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
}

// The handler jumps out of a request, which no standard allows and shells do. What was under way
// may be lost; the heap must go on. (Only a request that was served at once is sure to be left.)
static void wild_jumping_handler(int number) {
    (void)number;
    siglongjmp(target, 1);
}

static void wild_jumps(void) {
    struct object* warm[64];
    for (int i = 0; i < 64; ++i) {
        warm[i] = made(48, 0x11);
    }
    for (int i = 0; i < 8; ++i) {
        unmade(warm[i]);
    }
    install(SIGALRM, &wild_jumping_handler, SA_NODEFER);
    const struct itimerval often = {{0, 200}, {0, 200}};
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    volatile long jumped = 0;
    while (jumped < count) {
        if (sigsetjmp(target, 1) != 0) {
            jumped = jumped + 1;
        }
        while (jumped < count) { // never more than one at a time: always served at once
            void* volatile object = malloc(48);
            free(object);
        }
    }
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    for (int i = 8; i < 64; ++i) {
        unmade(warm[i]);
    }
    for (int i = 0; i < 10000; ++i) {
        unmade(made(some_size((uint32_t)i), (uintptr_t)i & 0xFF));
    }
}

// --- a handler ends its thread -------------------------------------------------------------------

static void ending_handler(int number) {
    (void)number;
    unmade(made(64, 0x22));
    pthread_exit(NULL);
}

static void* until_it_ends(void* unused) {
    (void)unused;
    for (uint32_t i = 0;; ++i) {
        void* volatile object = malloc(i % 300);
        free(object);
        if (i == 2000) {
            raise(SIGUSR1);
        }
    }
    return NULL;
}

static void ends(void) {
    install(SIGUSR1, &ending_handler, 0);
    long early = 0;
    for (long i = 0; i < count; ++i) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, &until_it_ends, NULL) == 0);
        pthread_join(thread, NULL);
        early = i == count / 4 ? resident_kib() : early;
    }
    CHECK(resident_kib() < early + 4096);
}

int main(int argc, char** argv) {
    static const struct scene scenes[] = {{"storm", &storm},
                                          {"jumps", &jumps},
                                          {"timed-jumps", &timed_jumps},
                                          {"wild-jumps", &wild_jumps},
                                          {"ends", &ends}};
    return play(scenes, sizeof scenes / sizeof *scenes, argc, argv);
}
