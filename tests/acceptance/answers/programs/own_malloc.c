/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program that brings its own malloc, which no preloaded library comes before, and grows.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "pace.h"

static char* chunk;
static size_t left;

void* malloc(size_t size) {
    const size_t head = 16;
    const size_t needed = head + ((size + 15) & ~(size_t)15);
    if (needed > left) {
        const size_t fresh = needed > (1 << 20) ? needed : (size_t)1 << 20;
        void* pages = mmap(NULL, fresh, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED) {
            return NULL;
        }
        chunk = (char*)pages;
        left = fresh;
    }
    char* block = chunk + head;
    *(size_t*)chunk = size;
    chunk += needed;
    left -= needed;
    return block;
}

void free(void* block) {
    (void)block;
}

void* calloc(size_t count, size_t size) {
    return malloc(count * size); /* fresh pages are zero, and none is used twice */
}

void* realloc(void* block, size_t size) {
    void* fresh = malloc(size);
    if (block != NULL && fresh != NULL) {
        const size_t old = *(size_t*)((char*)block - 16);
        memcpy(fresh, block, old < size ? old : size);
    }
    return fresh;
}

static KEPT char* kept[2000];

static PLACE void remember(unsigned number) {
    kept[number] = TAKE(40000);
}

static void growing(void) {
    for (unsigned i = 0; i < 1000; ++i) {
        remember(i);
        pace(1500);
    }
}

SCENARIOS({"growing", growing})
