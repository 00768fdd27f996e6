/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Calls every routine of C once or twice, each with a size of its own. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

int main(void) {
    void* volatile block = malloc(101);
    free(block);
    free(calloc(3, 67));
    block = realloc(NULL, 301);
    block = realloc(block, 30000);
    block = reallocarray(block, 7, 43);
    free(block);
    free(memalign(64, 401));
    free(aligned_alloc(128, 512));
    void* aligned = NULL;
    if (posix_memalign(&aligned, 256, 601) == 0) {
        free(aligned);
    }
    free(valloc(701));
    free(pvalloc(801));
    free(NULL);
    block = malloc(SIZE_MAX / 2); /* fails */
    block = calloc(SIZE_MAX / 2, 4);
    block = malloc(901);
    void* volatile kept = realloc(block, SIZE_MAX / 2); /* fails; the block lives on */
    (void)kept;
    free(realloc(block, 0));
    return 0;
}
