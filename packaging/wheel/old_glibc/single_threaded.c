/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whether there is one thread, where the C library says it (glibc 2.32 and newer). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

/* What headers of libstdc++ read. "No" is always correct, and slower. */
char __libc_single_threaded = 0;

/* What the allocators read (include/heapwright/platform/thread.hpp). */
const char* heapwright_single_threaded = &__libc_single_threaded;

__attribute__((constructor(101))) static void findSingleThreaded(void) {
    const int kept = errno;
    const char* const found = dlsym(RTLD_DEFAULT, "__libc_single_threaded");
    if (found != NULL) {
        heapwright_single_threaded = found;
    }
    errno = kept;
}
