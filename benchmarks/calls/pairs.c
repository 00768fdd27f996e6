// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
//     pairs alone|held|loop|held-loop ROUNDS MOST
//
// Pairs of malloc and free of random sizes from 1 to MOST. `alone`: each object is freed at once.
// `held`: each replaces a random one of a thousand live objects. The calls go through the linkage
// table, as in any program. The `loop` forms are the same without the calls. Arguments are moved to
// their registers, and registers are lost as in a call (of x86-64). The script fast_path.py counts
// the instructions.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kHeld = 1000, kSeed = 2002 };

static void* held[kHeld];

/// The upper bits are random enough for sizes.
static inline uint32_t below(uint32_t* state, uint32_t limit) {
    *state = *state * 1664525U + 1013904223U;
    return (uint32_t)(((uint64_t)*state * limit) >> 32);
}

/// Replaces a call of malloc.
static void* noMalloc(size_t size) {
    void* object;
    __asm__ volatile(""
                     : "=a"(object), "+D"(size)
                     :
                     : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory");
    return object;
}

/// Replaces a call of free.
static void noFree(void* object) {
    __asm__ volatile(""
                     : "+D"(object)
                     :
                     : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory");
}

/// Prevents the compiler from removing both calls.
static void* kept(void* object) {
    __asm__ volatile("" : "+r"(object));
    return object;
}

static void alone(uint32_t rounds, uint32_t most) {
    uint32_t state = kSeed;
    for (uint32_t done = 0; done < rounds; ++done) {
        free(kept(malloc(1 + below(&state, most))));
    }
}

static void loop(uint32_t rounds, uint32_t most) {
    uint32_t state = kSeed;
    for (uint32_t done = 0; done < rounds; ++done) {
        noFree(kept(noMalloc(1 + below(&state, most))));
    }
}

static void hold(uint32_t rounds, uint32_t most) {
    uint32_t state = kSeed;
    for (uint32_t done = 0; done < rounds; ++done) {
        void** const place = &held[below(&state, kHeld)];
        free(*place);
        *place = malloc(1 + below(&state, most));
    }
}

static void holdLoop(uint32_t rounds, uint32_t most) {
    uint32_t state = kSeed;
    for (uint32_t done = 0; done < rounds; ++done) {
        void** const place = &held[below(&state, kHeld)];
        noFree(*place);
        *place = noMalloc(1 + below(&state, most));
    }
}

int main(int argc, char** argv) {
    if (argc != 4) {
        fputs("usage: pairs alone|held|loop|held-loop ROUNDS MOST\n", stderr);
        return 2;
    }
    const uint32_t rounds = (uint32_t)strtoul(argv[2], NULL, 10);
    const uint32_t most = (uint32_t)strtoul(argv[3], NULL, 10);
    if (strcmp(argv[1], "alone") == 0) {
        alone(rounds, most);
    } else if (strcmp(argv[1], "loop") == 0) {
        loop(rounds, most);
    } else if (strcmp(argv[1], "held-loop") == 0) {
        holdLoop(rounds, most);
    } else if (strcmp(argv[1], "held") == 0) {
        uint32_t state = kSeed + 1;
        for (unsigned at = 0; at < kHeld; ++at) {
            held[at] = malloc(1 + below(&state, most));
        }
        hold(rounds, most);
    } else {
        fputs("pairs: there is no such loop\n", stderr);
        return 2;
    }
    return 0;
}
