// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The object before this one was written over its end; all others are freed after it.
// aborts: heapwright: free(): invalid pointer
// under hoard: nothing
// under hoard-3.8: nothing
// under lkmalloc: nothing
// under thresholds: nothing
// under miser: nothing
// under granary: nothing
// under granary-hardened: heapwright: free(): overflow
// under slab: nothing
// under slob: nothing
// under slub: nothing
// under slqb: nothing
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char* objects[64];
    for (int i = 0; i < 64; ++i) {
        objects[i] = malloc(40);
    }
    size_t room = malloc_usable_size(objects[0]);
    // Only neighbours can be hurt; some are, even where requests are spread over many heaps.
    for (int i = 0; i < 64 * 64; ++i) {
        char* before = objects[i / 64];
        char* object = objects[i % 64];
        if (before != NULL && object == before + room + 8) {
            memset(before, 'A', room + 8);
            free(object);
            objects[i % 64] = NULL;
        }
    }
    for (int i = 0; i < 64; ++i) {
        free(objects[i]);
    }
    return 0;
}
