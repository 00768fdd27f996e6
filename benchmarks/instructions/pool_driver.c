// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The loops in which the instructions of a pool are counted: all objects have 64 bytes.
#include "counting.h"
#include "subject.h"

enum { kObjects = 1000, kSize = 64 };

static void* objects[kObjects];
static unsigned order[kObjects];

static void allocate(unsigned slot) {
    objects[slot] = subjectMalloc(kSize);
    claim(objects[slot], kSize, slot);
}

static void giveBack(unsigned slot) {
    check(objects[slot], kSize, slot);
    subjectFree(objects[slot]);
}

static void lastInFirstOut(void) {
    for (unsigned i = 0; i < kObjects; ++i) {
        allocate(i);
        giveBack(i);
    }
}

static void batchInOrder(void) {
    for (unsigned i = 0; i < kObjects; ++i)
        allocate(i);
    for (unsigned i = 0; i < kObjects; ++i)
        giveBack(i);
}

static void churn(void) {
    for (unsigned i = 0; i < kObjects; ++i)
        allocate(i);
    for (unsigned i = 0; i < kObjects; ++i) {
        giveBack(order[i]);
        allocate(order[i]);
    }
    for (unsigned i = 0; i < kObjects; ++i)
        giveBack(order[i]);
}

int main(void) {
    uint32_t state = 2002;
    shuffle(order, kObjects, &state);
    count("growth: nothing to reuse yet", batchInOrder, 0, kObjects);
    count("last in first out", lastInFirstOut, kWarmUps, kObjects);
    count("batch, freed in order", batchInOrder, kWarmUps, kObjects);
    count("churn over live objects", churn, kWarmUps, 2 * kObjects);
    return 0;
}
