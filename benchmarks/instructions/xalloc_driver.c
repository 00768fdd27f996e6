// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The loops in which the instructions of an xalloc heap are counted. Mostly the last object is
// freed first, as in the parser it was written for, but not always.
#include "counting.h"
#include "subject.h"

enum { kObjects = 1000 };

static void* objects[kObjects];
static size_t sizes[kObjects];
static unsigned order[kObjects];

static void allocate(unsigned slot) {
    objects[slot] = subjectMalloc(sizes[slot]);
    claim(objects[slot], sizes[slot], slot);
}

static void giveBack(unsigned slot) {
    check(objects[slot], sizes[slot], slot);
    subjectFree(objects[slot]);
}

static void pairs(void) {
    for (unsigned i = 0; i < kObjects; ++i) {
        allocate(i);
        giveBack(i);
    }
}

static void allocateAll(void) {
    for (unsigned i = 0; i < kObjects; ++i)
        allocate(i);
}

static void stack(void) {
    allocateAll();
    for (unsigned i = kObjects; i > 0; --i)
        giveBack(i - 1);
}

/// All dead objects wait for the last one.
static void queue(void) {
    allocateAll();
    for (unsigned i = 0; i < kObjects; ++i)
        giveBack(i);
}

static void anyOrder(void) {
    allocateAll();
    for (unsigned i = 0; i < kObjects; ++i)
        giveBack(order[i]);
}

/// A clause: ten objects, freed almost as on a stack.
static void clauses(void) {
    for (unsigned i = 0; i + 10 <= kObjects; i += 10) {
        for (unsigned j = 0; j < 10; ++j)
            allocate(i + j);
        for (unsigned j = 10; j > 0; j -= 2) {
            giveBack(i + j - 2);
            giveBack(i + j - 1);
        }
    }
}

int main(void) {
    uint32_t state = 2002;
    for (unsigned i = 0; i < kObjects; ++i)
        sizes[i] = 1 + nextRandom(&state) % 200;
    shuffle(order, kObjects, &state);
    count("growth: the area is taken", pairs, 0, kObjects);
    count("pairs", pairs, kWarmUps, kObjects);
    count("stack", stack, kWarmUps, kObjects);
    count("queue", queue, kWarmUps, kObjects);
    count("any order", anyOrder, kWarmUps, kObjects);
    count("clauses", clauses, kWarmUps, kObjects);
    return 0;
}
