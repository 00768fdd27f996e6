// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The loops in which the instructions of a region are counted: objects are allocated, none is freed
// singly, then all are freed at once. A clear returns the chunks, so every cycle takes them again;
// that is counted, too.
#include "counting.h"
#include "subject.h"

enum { kObjects = 1000, kSmallRegions = 100 };

static void* objects[kObjects];
static size_t sizes[kObjects];

static void allocateAndCheck(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        objects[i] = subjectMalloc(sizes[i]);
        claim(objects[i], sizes[i], i);
    }
    for (unsigned i = 0; i < count; ++i)
        check(objects[i], sizes[i], i);
}

static void cycle(void) {
    allocateAndCheck(kObjects);
    subjectClear();
}

static void smallRegions(void) {
    for (unsigned i = 0; i < kSmallRegions; ++i) {
        allocateAndCheck(kObjects / kSmallRegions);
        subjectClear();
    }
}

static void allOf(size_t size) {
    for (unsigned i = 0; i < kObjects; ++i)
        sizes[i] = size;
}

static void mix(size_t most) {
    uint32_t state = 2002;
    for (unsigned i = 0; i < kObjects; ++i)
        sizes[i] = 1 + nextRandom(&state) % most;
}

int main(void) {
    allOf(32);
    count("growth: the first chunks of all", cycle, 0, kObjects);
    count("32 bytes each", cycle, kWarmUps, kObjects);
    mix(200);
    count("up to 200 bytes", cycle, kWarmUps, kObjects);
    count("small regions", smallRegions, kWarmUps, kObjects);
    mix(8000);
    count("up to 8000 bytes", cycle, kWarmUps, kObjects);
    return 0;
}
