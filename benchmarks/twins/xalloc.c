// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An xalloc heap by hand: one area of 16 MiB, a new object stands after the last one in use, and
// freeing that one goes back past all the dead before it. Plain C, to hold the composition `Xalloc`
// of compositions.hpp against.
//
// A word before each object leads to the one before it; its lowest bit says that the object is
// dead. The area's first word stands for an object that never dies.
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
    uintptr_t next; ///< where the next header goes
    uintptr_t end;
    uintptr_t last; ///< the header of the last object in use
    void* area;
} heap;

static inline struct Header* headerAt(uintptr_t address) {
    return (struct Header*)address;
}

/// The first request finds no area.
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
