// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts the system calls of a heap's end (linked with --wrap=munmap,madvise,mmap): they depend on
// its chunks and not on its objects. Also counts what creating a heap asks of malloc: nothing.
#include <heapwright/c/heap.h>

#include "check.h"

#include <string.h>
#include <sys/types.h>

static unsigned maps, unmaps, others, requests;

void* __real_mmap(void* at, size_t size, int protection, int flags, int file, off_t offset);
void* __wrap_mmap(void* at, size_t size, int protection, int flags, int file, off_t offset);
void* __wrap_mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
    ++maps;
    return __real_mmap(at, size, protection, flags, file, offset);
}
int __real_munmap(void* at, size_t size);
int __wrap_munmap(void* at, size_t size);
int __wrap_munmap(void* at, size_t size) {
    ++unmaps;
    return __real_munmap(at, size);
}
int __real_madvise(void* at, size_t size, int advice);
int __wrap_madvise(void* at, size_t size, int advice);
int __wrap_madvise(void* at, size_t size, int advice) {
    ++others;
    return __real_madvise(at, size, advice);
}
void* __real_malloc(size_t size);
void* __wrap_malloc(size_t size);
void* __wrap_malloc(size_t size) {
    ++requests;
    return __real_malloc(size);
}

/// The system calls of the end of a heap with `objects` objects; `mapped` is its memory.
static unsigned callsOfEnd(unsigned objects, size_t size, size_t* mapped) {
    struct heapwright_heap* const heap = heapwright_heap_create("end", HEAPWRIGHT_HEAP_UNLIMITED);
    for (unsigned i = 0; i < objects; ++i) {
        unsigned char* const object = heapwright_heap_malloc(heap, size);
        CHECK(object != NULL);
        *object = 1;
    }
    struct heapwright_heap_figures now;
    heapwright_heap_statistics(heap, &now, sizeof now);
    CHECK(now.live_objects == objects);
    *mapped = now.mapped_bytes;
    maps = unmaps = others = requests = 0;
    heapwright_heap_destroy(heap);
    CHECK(maps == 0 && requests == 0);
    return unmaps + others;
}

int main(void) {
    size_t mapped = 0;
    CHECK(callsOfEnd(0, 1, &mapped) == 1); // the heap itself
    CHECK(mapped == 0);
    CHECK(callsOfEnd(10, 32, &mapped) == 2); // and its only chunk
    const size_t chunk = mapped;
    CHECK(callsOfEnd(60000, 32, &mapped) == 2);
    CHECK(mapped == chunk);
    // Chunks grow from 4 to 32 MiB, so there are fewer than one for each 4 MiB.
    const unsigned calls = callsOfEnd(1000000, 100, &mapped);
    CHECK(calls >= 3 && calls <= 1 + mapped / (4 << 20));
    // A large object may have a chunk of its own.
    CHECK(callsOfEnd(3, 64 << 20, &mapped) == 4);

    // Creating and using a heap asks nothing of malloc, so it may serve malloc itself.
    requests = 0;
    struct heapwright_heap* const heap = heapwright_heap_create("own", 1 << 20);
    void* const object = heapwright_heap_malloc(heap, 1000);
    CHECK(object != NULL && requests == 0);
    heapwright_heap_free(heap, object);
    heapwright_heap_destroy(heap);
    CHECK(requests == 0);
    return 0;
}
