// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The loops under which a subject's instructions are counted. For every case it runs the loop a few
// times to reach the steady state, then once between two calls of `boundary`, where callgrind dumps
// its counts, and prints `NAME PAIRS`: the number of malloc+free pairs between those two calls.
// Only instructions inside the subject's two functions are collected, so the loops cost nothing.
// The sizes are fixed by arithmetic: every subject sees the same calls in the same order. The case
// whose name starts with `growth` has no warm-up: its blocks are all new, which happens once per
// block.
#include "subject.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kObjects = 1000, kWarmUps = 3 };

static void* objects[kObjects];
static size_t held[kObjects];
static size_t sizes[kObjects];
static unsigned order[kObjects];

/// Callgrind dumps its counts where this is entered.
__attribute__((noinline)) void boundary(void);
__attribute__((noinline)) void boundary(void) {
    __asm__ volatile("" ::: "memory");
}

/// Numerical Recipes' generator: enough to mix sizes, and the same everywhere.
static uint32_t nextRandom(uint32_t* state) {
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

/// Mostly small, now and then a few kilobytes: each size class up to `limit` half as often as the
/// one below it.
static void mixSizes(size_t limit) {
    uint32_t state = 2002;
    for (unsigned i = 0; i < kObjects; ++i) {
        size_t top = 16;
        while (top < limit && (nextRandom(&state) & 1U) != 0)
            top *= 2;
        sizes[i] = 1 + nextRandom(&state) % top;
        order[i] = i;
    }
    for (unsigned i = kObjects - 1; i > 0; --i) {
        unsigned other = nextRandom(&state) % (i + 1);
        unsigned kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

static void fail(const char* what) {
    fprintf(stderr, "driver: %s\n", what);
    exit(2);
}

/// The first and the last byte of an object say whose it is: a heap that gives the same memory out
/// twice, or too little of it, is not worth counting.
static void claim(void* object, size_t size, unsigned owner) {
    if (object == NULL || (uintptr_t)object % 16 != 0)
        fail("the subject has no memory, or gives it out misaligned");
    ((unsigned char*)object)[0] = (unsigned char)owner;
    ((unsigned char*)object)[size - 1] = (unsigned char)owner;
}

static void giveBack(void* object, size_t size, unsigned owner) {
    const unsigned char* bytes = object;
    if (bytes[0] != (unsigned char)owner || bytes[size - 1] != (unsigned char)owner)
        fail("the subject gave the same memory out twice");
    subjectFree(object);
}

static void pairOf(size_t size) {
    void* object = subjectMalloc(size);
    claim(object, size, 1);
    giveBack(object, size, 1);
}

static void sameSize(void) {
    for (unsigned i = 0; i < kObjects; ++i)
        pairOf(64);
}

static void mixed(void) {
    for (unsigned i = 0; i < kObjects; ++i)
        pairOf(sizes[i]);
}

static void allocate(unsigned slot, size_t size) {
    objects[slot] = subjectMalloc(size);
    held[slot] = size;
    claim(objects[slot], size, slot);
}

static void allocateAll(void) {
    for (unsigned i = 0; i < kObjects; ++i)
        allocate(i, sizes[i]);
}

static void batchInOrder(void) {
    allocateAll();
    for (unsigned i = 0; i < kObjects; ++i)
        giveBack(objects[i], held[i], i);
}

static void batchShuffled(void) {
    allocateAll();
    for (unsigned i = 0; i < kObjects; ++i)
        giveBack(objects[order[i]], held[order[i]], order[i]);
}

/// Half of the work is done while all slots are full: each in turn gets an object of another size.
static void churn(void) {
    allocateAll();
    for (unsigned i = 0; i < kObjects; ++i) {
        giveBack(objects[order[i]], held[order[i]], order[i]);
        allocate(order[i], sizes[i]);
    }
    for (unsigned i = 0; i < kObjects; ++i)
        giveBack(objects[i], held[i], i);
}

static void count(const char* name, void (*body)(void), unsigned warmUps, unsigned pairs) {
    for (unsigned i = 0; i < warmUps; ++i)
        body();
    boundary();
    body();
    boundary();
    printf("%s %u\n", name, pairs);
}

static void* nothing(void* argument) {
    return argument;
}

/// From the first thread on, the C library holds the process to have several.
static void stopBeingSingleThreaded(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
        fail("no thread");
}

int main(void) {
    mixSizes(4096);
    count("growth: nothing to reuse yet", batchInOrder, 0, kObjects);
    count("one size, last in first out", sameSize, kWarmUps, kObjects);
    count("mixed sizes, last in first out", mixed, kWarmUps, kObjects);
    count("batch, freed in order", batchInOrder, kWarmUps, kObjects);
    count("batch, freed in another order", batchShuffled, kWarmUps, kObjects);
    count("churn over live objects", churn, kWarmUps, 2 * kObjects);
    mixSizes(65536);
    count("large sizes too", churn, kWarmUps, 2 * kObjects);
    stopBeingSingleThreaded();
    count("one size, after a thread", sameSize, kWarmUps, kObjects);
    count("large sizes too, after a thread", churn, kWarmUps, 2 * kObjects);
    return 0;
}
