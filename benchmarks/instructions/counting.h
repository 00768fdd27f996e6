// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The common part of the drivers. A driver runs each case a few times to reach the steady state,
// then once between two calls of `boundary`, where callgrind dumps its counts. It prints `NAME
// UNITS`, the number of units between those two calls. Only instructions inside the subject's
// functions are collected, so the loops cost nothing. The sizes come from fixed arithmetic, so
// every subject sees the same calls in the same order. A case whose name starts with `growth` has
// no warm-up: all its memory is new.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kWarmUps = 3 };

/// Callgrind dumps its counts at the entry of this function.
__attribute__((noinline)) void boundary(void);
__attribute__((noinline)) void boundary(void) {
    __asm__ volatile("" ::: "memory");
}

static inline void count(const char* name, void (*body)(void), unsigned warmUps, unsigned units) {
    for (unsigned i = 0; i < warmUps; ++i)
        body();
    boundary();
    body();
    boundary();
    printf("%s %u\n", name, units);
}

/// Numerical Recipes' generator: sufficient to mix sizes, and the same on every machine.
static inline uint32_t nextRandom(uint32_t* state) {
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

static inline void fail(const char* what) {
    fprintf(stderr, "driver: %s\n", what);
    exit(2);
}

/// Marks the first and the last byte of an object with its owner. A heap that returns memory twice,
/// or too little of it, is not counted.
static inline void claim(void* object, size_t size, unsigned owner) {
    if (object == NULL || (uintptr_t)object % 16 != 0)
        fail("the subject has no memory, or gives it out misaligned");
    ((unsigned char*)object)[0] = (unsigned char)owner;
    ((unsigned char*)object)[size - 1] = (unsigned char)owner;
}

static inline void check(const void* object, size_t size, unsigned owner) {
    const unsigned char* bytes = object;
    if (bytes[0] != (unsigned char)owner || bytes[size - 1] != (unsigned char)owner)
        fail("the subject gave the same memory out twice");
}

/// Permutes 0 to n-1, as determined by the state.
static inline void shuffle(unsigned* order, unsigned n, uint32_t* state) {
    for (unsigned i = 0; i < n; ++i)
        order[i] = i;
    for (unsigned i = n - 1; i > 0; --i) {
        unsigned other = nextRandom(state) % (i + 1);
        unsigned kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}
