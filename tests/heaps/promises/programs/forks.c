// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Forks while all threads allocate: children that go on allocating, start threads, fork again.
#define _GNU_SOURCE
#include "scenes.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { THREADS = 3, RING = 48 };
static atomic_int working;
static struct object* _Atomic shared[RING]; // objects that any thread may free

/// Makes and frees, here and through the shared ring, `times` times.
static void play_with(long times, uint32_t seed) {
    struct object* ring[RING] = {NULL};
    uint32_t random = seed;
    for (long i = 0; i < times; ++i) {
        const uint32_t drawn = next_random(&random);
        struct object** const place = &ring[drawn % RING];
        if (*place != NULL) {
            unmade(*place);
        }
        *place = made(some_size(next_random(&random)), drawn & 0xFF);
        if (drawn % 8 == 0) {
            struct object* const old = atomic_exchange(&shared[drawn / 8 % RING], *place);
            *place = NULL;
            if (old != NULL) {
                unmade(old);
            }
        }
    }
    for (size_t i = 0; i < RING; ++i) {
        if (ring[i] != NULL) {
            unmade(ring[i]);
        }
    }
}

static void succeeded(pid_t child) {
    int status = 0;
    CHECK(child > 0);
    pid_t ended = 0;
    do {
        ended = waitpid(child, &status, 0);
    } while (ended == -1 && errno == EINTR);
    CHECK(ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void* thread_of_child(void* unused) {
    (void)unused;
    play_with(300, 99);
    return NULL;
}

/// What a child does: goes on with what it has inherited, alone and with a thread, and has a child.
static void childs_life(int generation) {
    alarm(60); // a child that hangs ends badly
    for (size_t i = 0; i < RING; ++i) {
        struct object* const inherited = atomic_exchange(&shared[i], NULL);
        if (inherited != NULL) {
            unmade(inherited);
        }
    }
    play_with(500, 17);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, &thread_of_child, NULL) == 0);
    play_with(300, 5);
    pthread_join(thread, NULL);
    if (generation < 2) {
        const pid_t child = fork();
        if (child == 0) {
            childs_life(generation + 1);
            _exit(0);
        }
        succeeded(child);
    }
}

static void* allocating(void* number) {
    for (uint32_t round = 0; atomic_load(&working) > 0; ++round) {
        play_with(200, (uint32_t)(uintptr_t)number * 1000 + round);
    }
    return NULL;
}

static void* forking(void* number) {
    for (long i = 0; i < count; ++i) {
        play_with(50, (uint32_t)(uintptr_t)number * 313 + (uint32_t)i);
        const pid_t child = fork();
        if (child == 0) {
            childs_life(0);
            _exit(0);
        }
        succeeded(child);
    }
    atomic_fetch_sub(&working, 1);
    return NULL;
}

/// Several threads fork while others allocate.
static void storm(void) {
    pthread_t forkers[2];
    pthread_t others[THREADS];
    atomic_store(&working, 2);
    for (uintptr_t i = 0; i < THREADS; ++i) {
        CHECK(pthread_create(&others[i], NULL, &allocating, (void*)i) == 0);
    }
    for (uintptr_t i = 0; i < 2; ++i) {
        CHECK(pthread_create(&forkers[i], NULL, &forking, (void*)i) == 0);
    }
    for (size_t i = 0; i < 2; ++i) {
        pthread_join(forkers[i], NULL);
    }
    for (size_t i = 0; i < THREADS; ++i) {
        pthread_join(others[i], NULL);
    }
}

static struct object* _Atomic handlers;

static void allocating_handler(int number) {
    (void)number;
    const int before = errno;
    struct object* const old = atomic_exchange(&handlers, made(300, 0x44));
    if (old != NULL) {
        unmade(old);
    }
    errno = before;
}

/// Handlers that allocate while the heap is held still, and after, on both sides.
static void interrupted(void) {
    install(SIGALRM, &allocating_handler, SA_RESTART | SA_NODEFER);
    install(SIGPROF, &allocating_handler, SA_RESTART);
    const struct itimerval often = {{0, 150}, {0, 150}};
    const struct itimerval never = {{0, 0}, {0, 0}};
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0 && setitimer(ITIMER_PROF, &often, NULL) == 0);
    storm();
    setitimer(ITIMER_REAL, &never, NULL);
    setitimer(ITIMER_PROF, &never, NULL);
}

static volatile sig_atomic_t forks_left;

static void forking_handler(int number) {
    (void)number;
    const int before = errno;
    if (forks_left > 0) {
        --forks_left;
        const pid_t child = fork();
        if (child == 0) {
            unmade(made(500, 0x45));
            play_with(100, 3);
            return; // into what was interrupted, and on
        }
        succeeded(child);
    }
    errno = before;
}

/// Forks in handlers, at any point. The children return into the interrupted code.
static void in_handlers(void) {
    const pid_t parent = getpid();
    install(SIGALRM, &forking_handler, SA_RESTART);
    forks_left = (sig_atomic_t)count;
    const struct itimerval often = {{0, 300}, {0, 300}};
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0); // which a child does not inherit
    for (uint32_t round = 0; forks_left > 0 && getpid() == parent; ++round) {
        play_with(300, round);
    }
    if (getpid() != parent) {
        play_with(1000, 8);
        _exit(0);
    }
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
}

int main(int argc, char** argv) {
    static const struct scene scenes[] = {
        {"storm", &storm}, {"interrupted", &interrupted}, {"in-handlers", &in_handlers}};
    return play(scenes, sizeof scenes / sizeof *scenes, argc, argv);
}
