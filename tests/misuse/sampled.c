// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Mistakes that a program makes with each of many objects, so that a guard that samples finds one.
#include <support/mistakes.h>

#include <stdlib.h>
#include <string.h>

enum { count = 3000 };
static char* objects[count];

static void fill(size_t size) {
    for (int i = 0; i < count; ++i) {
        objects[i] = malloc(size);
        memset(objects[i], 'A', size);
    }
}

// No mistake: all objects are used and freed.
MISTAKE(none) {
    for (int turn = 0; turn < 5; ++turn) {
        fill(100);
        for (int i = 0; i < count; ++i) {
            objects[i] = realloc(objects[i], 200);
            free(objects[i]);
        }
    }
}

// Each object is written after its free.
MISTAKE(write_after_free) {
    fill(100);
    for (int i = 0; i < count; ++i) {
        free(objects[i]);
    }
    for (int i = 0; i < count; ++i) {
        ((volatile char*)objects[i])[8] = 'B';
    }
}

// The byte behind each object is written.
MISTAKE(overflow) {
    fill(100);
    for (int i = 0; i < count; ++i) {
        objects[i][100] = 'B';
    }
    for (int i = 0; i < count; ++i) {
        free(objects[i]);
    }
}
