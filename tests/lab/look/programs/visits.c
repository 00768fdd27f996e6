/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Allocates and frees blocks of many sizes under a preloaded mimalloc, and prints what mimalloc's
 * own visitor of the heap counts: `BLOCKS BYTES`. Then it waits for the end of its input.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct Area {
    void* blocks;
    size_t reserved;
    size_t committed;
    size_t used;
    size_t blockBytes;
};

typedef bool Visitor(const void* heap, const struct Area* area, void* block, size_t size,
                     void* sums);

static bool add(const void* heap, const struct Area* area, void* block, size_t size, void* sums) {
    (void)heap;
    (void)size;
    if (block == NULL) { /* an area, before its blocks */
        ((size_t*)sums)[0] += area->used;
        ((size_t*)sums)[1] += area->used * area->blockBytes;
    }
    return true;
}

/* Without stdio, whose buffer would be one more block. */
static size_t spelled(size_t number, char* to) {
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    for (size_t i = 0; i < count; ++i) {
        to[i] = digits[count - 1 - i];
    }
    return count;
}

int main(void) {
    enum { most = 40000 };
    static void* blocks[most];
    for (size_t i = 0; i < most; ++i) {
        blocks[i] = malloc(1 + i * 7919 % (i % 100 == 0 ? 300000 : 3000));
    }
    for (size_t i = 0; i < most; i += 3) {
        free(blocks[i]);
    }
    bool (*visit)(const void*, bool, Visitor*, void*);
    void* (*own)(void);
    *(void**)&visit = dlsym(RTLD_DEFAULT, "mi_heap_visit_blocks");
    *(void**)&own = dlsym(RTLD_DEFAULT, "mi_heap_get_default");
    if (visit == NULL || own == NULL) {
        return 3;
    }
    size_t sums[2] = {0, 0};
    visit(own(), false, add, sums);
    char line[48];
    size_t length = spelled(sums[0], line);
    line[length++] = ' ';
    length += spelled(sums[1], line + length);
    line[length++] = '\n';
    if (write(STDOUT_FILENO, line, length) < 0) {
        return 3;
    }
    return read(STDIN_FILENO, line, 1) < 0 ? 3 : 0;
}
