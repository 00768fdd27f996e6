// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A hand-written xalloc heap: one area of 16 MiB. A new object follows the last one in use. A free
// of that one steps over all dead objects before it. Plain C, to compare with the composition
// `Xalloc` of compositions.hpp.
//
// A word before each object points to the previous one. Its lowest bit marks the object as dead.
// The area's first word stands for an object that is never dead.
#include "subject.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define RARE __attribute__((cold, noinline))

enum { kAlignment = 16, kDead = 1 };

static const size_t kArea = (size_t)16 << 20;

struct Header {
    uintptr_t before;
};

static struct {
    uintptr_t next; ///< where the next header is placed
    uintptr_t end;
    uintptr_t last; ///< the header of the last object in use
    void* area;
} heap;

static inline struct Header* headerAt(uintptr_t address) {
    return (struct Header*)address;
}

/// The first request takes the area.
RARE static void* begin(size_t size) {
    if (heap.area != NULL)
        return NULL;
    int kept = errno;
    struct Header* first = malloc(kArea);
    errno = kept;
    if (first == NULL)
        return NULL;
    first->before = 0;
    heap.area = first;
    heap.last = (uintptr_t)first;
    heap.next = (uintptr_t)(first + 1);
    heap.end = heap.next + ((kArea - sizeof(struct Header)) & ~(size_t)(kAlignment - 1));
    return subjectMalloc(size);
}

void* subjectMalloc(size_t size) {
    size_t block;
    if (unlikely(__builtin_add_overflow(size, sizeof(struct Header) + kAlignment - 1, &block)))
        return begin(size);
    block &= ~(size_t)(kAlignment - 1);
    if (unlikely(block > heap.end - heap.next))
        return begin(size);
    struct Header* header = headerAt(heap.next);
    header->before = heap.last;
    heap.last = heap.next;
    heap.next += block;
    return header + 1;
}

void subjectFree(void* object) {
    struct Header* header = (struct Header*)object - 1;
    if ((uintptr_t)header != heap.last) {
        header->before |= kDead;
        return;
    }
    uintptr_t freed = (uintptr_t)header;
    uintptr_t before = header->before;
    while (headerAt(before)->before & kDead) {
        freed = before;
        before = headerAt(before)->before - kDead;
    }
    heap.next = freed;
    heap.last = before;
}
