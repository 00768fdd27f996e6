/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Fails unless granary is the malloc of the process, and counts what this program holds. */
#include <heapwright/c/granary.h>
#include <stdlib.h>

int main(void) {
    if (heapwright_granary_statistics == NULL)
        return 1; /* another malloc */
    struct heapwright_granary_figures before;
    struct heapwright_granary_figures after;
    heapwright_granary_statistics(&before);
    void* const object = malloc(1000);
    heapwright_granary_statistics(&after);
    const int served = object != NULL && after.live_objects == before.live_objects + 1;
    free(object);
    return served ? 0 : 2;
}
