/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A few thousand objects that are allocated, used and freed by random numbers with a fixed seed.
 * They are used in loops of the program, by the C library, and through copies.
 */
#define _GNU_SOURCE
#include "use.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { slots = 200, steps = 6000 };

static char* objects[slots];
static size_t sizes[slots];

static uint32_t draw(uint32_t below) {
    static uint32_t state = 12345;
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

static void make(uint32_t slot) {
    free(objects[slot]);
    sizes[slot] = 2 + draw(300);
    objects[slot] = draw(2) ? malloc(sizes[slot]) : calloc(1, sizes[slot]);
    memset(objects[slot], 0, 1);
}

/* One of the uses of an object that is there. */
static size_t look(uint32_t slot) {
    char* const object = objects[slot];
    char small[8];
    size_t sum = 0;
    switch (draw(6)) {
    case 0:
        for (size_t i = 0; i < sizes[slot]; ++i) {
            sum += (unsigned char)((volatile char*)object)[i];
        }
        return sum;
    case 1:
        return strlen(object);
    case 2:
        return (size_t)snprintf(small, sizeof small, "%d%.3s", 5, object);
    case 3:
        free(objects[slot]);
        objects[slot] = strdup("a copy of something");
        sizes[slot] = 20;
        return 1;
    case 4:
        sizes[slot] += draw(100);
        objects[slot] = realloc(object, sizes[slot]);
        return 1;
    default:
        memcpy(object, "1", 2);
        return (size_t)strtol(object, NULL, 10);
    }
}

int main(void) {
    size_t sum = 0;
    for (int i = 0; i < steps; ++i) {
        const uint32_t slot = draw(slots);
        if (objects[slot] == NULL || draw(4) == 0) {
            make(slot);
        } else {
            sum += look(slot);
        }
    }
    return sum == 0;
}
