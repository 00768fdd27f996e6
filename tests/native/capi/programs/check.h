// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// For the small programs: what does not hold ends them, with its line.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/// Numerical Recipes' generator.
static inline unsigned nextRandom(uint32_t* state) {
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}
