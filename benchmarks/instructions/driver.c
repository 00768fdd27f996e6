// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The loops in which the instructions of a general-purpose heap are counted.
#include "counting.h"
#include "subject.h"

#include <pthread.h>

enum { kObjects = 1000 };

static void* objects[kObjects];
static size_t held[kObjects];
static size_t sizes[kObjects];
static unsigned order[kObjects];

/// Mostly small, sometimes a few kilobytes: each size class up to `limit` is half as frequent as
/// the one below it.
static void mixSizes(size_t limit) {
    uint32_t state = 2002;
    for (unsigned i = 0; i < kObjects; ++i) {
        size_t top = 16;
        while (top < limit && (nextRandom(&state) & 1U) != 0)
            top *= 2;
        sizes[i] = 1 + nextRandom(&state) % top;
    }
    shuffle(order, kObjects, &state);
}

static void giveBack(void* object, size_t size, unsigned owner) {
    check(object, size, owner);
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

static void* nothing(void* argument) {
    return argument;
}

/// After the first thread, the C library treats the process as multi-threaded.
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
