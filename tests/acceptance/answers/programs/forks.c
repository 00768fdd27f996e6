/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Programs of several processes.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "pace.h"

enum { step_us = 2000, steps = 750 };

static PLACE void forget(size_t size) {
    TAKE(size);
}

static void requests(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        serve(i);
        pace(step_us);
    }
}

static void leaking_requests(void) {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        serve(i + 1);
        forget(2000);
        pace(step_us);
    }
    wipe();
}

static void child(void (*work)(void)) {
    if (fork() == 0) {
        work();
        exit(0);
    }
}

static void wait_for_all(void) {
    while (wait(NULL) > 0) {
    }
}

/* The parent serves, its child serves more and loses 1 MB a second. */
static void leaking_child(void) {
    child(leaking_requests);
    requests(steps);
    wait_for_all();
}

static void leaking_parent(void) {
    if (fork() == 0) {
        requests(steps / 2);
        exit(0);
    }
    leaking_requests();
    wait_for_all();
}

static void quarter(void) {
    requests(steps / 4);
}

/* A parent that waits, and children that come and go. */
static void short_children(void) {
    for (unsigned i = 0; i < 5; ++i) {
        child(quarter);
        wait_for_all();
    }
}

/* Four workers, each of which loses memory, under a parent that only waits. */
static void leaking_workers(void) {
    for (unsigned i = 0; i < 4; ++i) {
        child(leaking_requests);
    }
    wait_for_all();
}

/* A base that all children share and that none of them frees. */
static void shared_base(void) {
    static KEPT char* base[64];
    for (unsigned i = 0; i < 64; ++i) {
        base[i] = TAKE(64 << 10);
    }
    for (unsigned i = 0; i < 3; ++i) {
        child(quarter);
    }
    requests(steps / 2);
    wait_for_all();
}

SCENARIOS({"leaking-child", leaking_child}, {"leaking-parent", leaking_parent},
          {"short-children", short_children}, {"leaking-workers", leaking_workers},
          {"shared-base", shared_base})
