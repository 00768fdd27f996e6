/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Precedes glibc's `free` and keeps the pages of large blocks, so that a search at the end can read
 * the pointers in them. An example is the table of a container that `main` destroyed shortly
 * before. The pages move to a range of this library (MREMAP_DONTUNMAP), so nothing is copied. glibc
 * unmaps what remains.
 *
 * Invariant: at most 64 MiB are kept. The recorder counts them as its own memory.
 * Cost: a load for each free; two system calls for each block of 128 KiB or more that glibc had
 * mapped. Other allocators are passed on to, because their free blocks stay readable.
 */
#define _GNU_SOURCE
#include "kept.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

typedef void Free(void*);
typedef void Note(const void*, size_t);

enum {
    pageBytes = 4096,
    tableBytes = pageBytes,
    keptBytes = 64 << 20,
    isMapped = 2, /* in the size of a chunk of glibc */
    sizeFlags = 7
};

_Static_assert(sizeof(struct KeptTable) <= tableBytes, "the table has one page");

static Free* next;
static int keeps; /* the next `free` is glibc's, and there is a listener */
static char busy;
static struct KeptTable* table;
static size_t used; /* bytes behind the table, up to the newest block */

static Free* findNext(void) {
    void* const found = dlsym(RTLD_NEXT, "free");
    Free* free = NULL;
    memcpy(&free, &found, sizeof free);
    __atomic_store_n(&next, free, __ATOMIC_RELEASE);
    return free;
}

/* The range has no memory until blocks are moved into it. */
static int reserve(void) {
    void* const range = mmap(NULL, tableBytes + keptBytes, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) {
        return 0;
    }
    void* const found = dlsym(RTLD_DEFAULT, "heapwright_recorder_memory");
    Note* note = NULL;
    memcpy(&note, &found, sizeof note);
    if (note == NULL || mprotect(range, tableBytes, PROT_READ | PROT_WRITE) != 0) {
        munmap(range, tableBytes + keptBytes);
        return 0;
    }
    note(range, tableBytes + keptBytes);
    table = range;
    table->magic = HEAPWRIGHT_KEPT_MAGIC;
    return 1;
}

static void drop(struct KeptBlock* block) {
    mmap((void*)(uintptr_t)(block->copy - keptHeader), block->bytes + keptHeader, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    block->object = 0;
}

/* The place for `bytes`, without the older blocks that were there. */
static char* makeRoom(size_t bytes) {
    const size_t from = used + bytes <= keptBytes ? used : 0;
    char* const place = (char*)table + tableBytes + from;
    for (size_t at = 0; at < keptBlocks; ++at) {
        struct KeptBlock* const block = &table->blocks[at];
        const uint64_t begin = block->copy - keptHeader;
        const int overlaps = begin < (uintptr_t)place + bytes &&
                             begin + keptHeader + block->bytes > (uintptr_t)place;
        if (block->object != 0 && (overlaps || at == table->next % keptBlocks)) {
            drop(block);
        }
    }
    used = from + bytes;
    return place;
}

/* Moves the pages of a mapped chunk. glibc then unmaps an empty one, and reads its header first. */
static void keep(char* object, size_t bytes) {
    char* const chunk = object - keptHeader;
    if ((table == NULL && !reserve()) || bytes > keptLargest) {
        return;
    }
    char* const place = makeRoom(bytes);
    if (mremap(chunk, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, place) !=
        place) {
        return;
    }
    memcpy(chunk, place, keptHeader);
    struct KeptBlock* const block = &table->blocks[table->next % keptBlocks];
    block->copy = (uintptr_t)place + keptHeader;
    block->bytes = bytes - keptHeader;
    block->object = (uintptr_t)object;
    ++table->next;
}

__attribute__((visibility("default"))) void free(void* object) {
    Free* found = __atomic_load_n(&next, __ATOMIC_ACQUIRE);
    if (found == NULL) {
        found = findNext();
    }
    if (keeps && object != NULL) {
        const size_t* const header =
            (const size_t*)object - 2; /* bytes before the chunk; its own */
        const int begins = ((uintptr_t)header & (pageBytes - 1)) == 0 && header[0] == 0;
        if ((header[1] & isMapped) != 0 && begins &&
            !__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) {
            const int before = errno;
            keep(object, header[1] & ~(size_t)sizeFlags);
            errno = before;
            __atomic_clear(&busy, __ATOMIC_RELEASE);
        }
    }
    found(object);
}

__attribute__((constructor)) static void begin(void) {
    void* const ofGlibc = dlsym(RTLD_DEFAULT, "__libc_free");
    Free* const found = findNext();
    keeps = getenv("HEAPWRIGHT_HOLD") != NULL && ofGlibc != NULL &&
            memcmp(&found, &ofGlibc, sizeof found) == 0;
}
