/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * An object that grows, shrinks and ends by realloc.
 */
#define _GNU_SOURCE
#include "use.h"

int main(void) {
    char* growing = NULL;
    for (size_t size = 16; size <= 16 << 7; size *= 2) {
        growing = realloc(growing, size);
        use(growing + size - 1);
    }
    void* const filler = malloc(1000);
    use(filler);
    growing = realloc(growing, 8);
    void* const more = reallocarray(NULL, 3, 50);
    use(more);
    growing = realloc(growing, 0);
    free(filler);
    free(more);
    return growing == NULL ? 0 : 1;
}
