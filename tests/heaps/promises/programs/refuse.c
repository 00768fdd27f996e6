// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands between an allocator and the system (preloaded beside it): counts what the allocator asks
// for, and refuses some of it. The C library's own calls do not come by here.
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long calls;
static atomic_long first_refused, last_refused;

/// Refuses the calls from `first` to `last`, counted from now on, from 1; none with 0, 0.
void refuse(long first, long last) {
    atomic_store(&first_refused, first);
    atomic_store(&last_refused, last);
    atomic_store(&calls, 0);
}
long refusable(void) {
    return atomic_load(&calls);
}

static int refused(void) {
    const long call = atomic_fetch_add(&calls, 1) + 1;
    if (call < atomic_load(&first_refused) || call > atomic_load(&last_refused)) {
        return 0;
    }
    errno = ENOMEM;
    return 1;
}

void* mmap(void* where, size_t bytes, int protection, int flags, int file, off_t offset) {
    return refused() ? MAP_FAILED
                     : (void*)syscall(SYS_mmap, where, bytes, protection, flags, file, offset);
}
void* mmap64(void* where, size_t bytes, int protection, int flags, int file, off_t offset) {
    return mmap(where, bytes, protection, flags, file, offset);
}
void* mremap(void* pages, size_t bytes, size_t wanted, int flags, ...) {
    va_list more;
    va_start(more, flags);
    void* const where = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void*) : NULL;
    va_end(more);
    return refused() ? MAP_FAILED : (void*)syscall(SYS_mremap, pages, bytes, wanted, flags, where);
}
int madvise(void* pages, size_t bytes, int advice) {
    return refused() ? -1 : (int)syscall(SYS_madvise, pages, bytes, advice);
}
int mprotect(void* pages, size_t bytes, int protection) {
    return refused() ? -1 : (int)syscall(SYS_mprotect, pages, bytes, protection);
}
int munmap(void* pages, size_t bytes) {
    return refused() ? -1 : (int)syscall(SYS_munmap, pages, bytes);
}
