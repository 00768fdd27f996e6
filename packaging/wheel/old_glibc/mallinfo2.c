/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * mallinfo2 of the allocator in effect, or else what its mallinfo says. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stddef.h>

struct mallinfo2 mallinfo2(void) {
    struct mallinfo2 (*newer)(void) = NULL;
    *(void**)&newer = dlsym(RTLD_DEFAULT, "mallinfo2");
    if (newer != NULL) {
        return newer();
    }
    struct mallinfo (*older)(void) = NULL;
    *(void**)&older = dlsym(RTLD_DEFAULT, "mallinfo");
    const struct mallinfo info = older();
    return (struct mallinfo2){.uordblks = (unsigned)info.uordblks, .hblkhd = (unsigned)info.hblkhd};
}
