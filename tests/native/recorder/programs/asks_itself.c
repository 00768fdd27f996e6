/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A library in front of the C library's malloc. It allocates when it is first called for the size
 * of a block, through the public name.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>

extern void* __libc_malloc(size_t size);

static atomic_int asked;

void* malloc(size_t size) {
    return __libc_malloc(size);
}

size_t malloc_usable_size(void* block) {
    if (atomic_exchange(&asked, 1) == 0)
        free(malloc(777));
    size_t (*next)(void*) = (size_t(*)(void*))dlsym(RTLD_NEXT, "malloc_usable_size");
    return next(block);
}
