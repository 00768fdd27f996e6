/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A library with an allocator of its own, which it calls through its import table. `work` frees the
 * block of the call before and allocates one. A foreign block ends the process with status 6.
 */
#include <stddef.h>
#include <unistd.h>

static char pool[1 << 12] __attribute__((aligned(16)));
static void* held;

void* malloc(size_t size) {
    return size <= sizeof pool ? pool : NULL;
}

void free(void* block) {
    if (block != NULL && block != pool) {
        _exit(6);
    }
}

void work(void) {
    free(held);
    held = malloc(24);
    if (held != pool) {
        _exit(6);
    }
}
