// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
//     marked EVENTS
//
// Replays the events of a file written by tail.py, with a call of `mark` before and after each call
// of the allocator. A tool that sees all instructions can thus find the begin and end of each call.
// An event without a call measures the cost of the marks. The program's own memory is mapped.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { Nothing, Malloc, Calloc, Realloc, Memalign, Free };

struct Event {
    uint32_t kind;
    uint32_t slot;
    uint64_t size;
    uint64_t alignment;
};

__attribute__((noinline)) void mark(void) {
    __asm__ volatile("" ::: "memory");
}

static void* mapped(int file, size_t size) {
    const int kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE;
    void* const memory = mmap(NULL, size, PROT_READ | PROT_WRITE, kind, file, 0);
    if (memory == MAP_FAILED) {
        perror("marked");
        _exit(1);
    }
    return memory;
}

static void* perform(const struct Event* event, void* old) {
    void* result = NULL;
    switch (event->kind) {
    case Malloc:
        mark();
        result = malloc(event->size);
        mark();
        break;
    case Calloc:
        mark();
        result = calloc(1, event->size);
        mark();
        break;
    case Realloc:
        mark();
        result = realloc(old, event->size);
        mark();
        break;
    case Memalign:
        mark();
        result = aligned_alloc(event->alignment, event->size);
        mark();
        break;
    case Free:
        mark();
        free(old);
        mark();
        break;
    default:
        mark();
        mark();
        break;
    }
    return result;
}

int main(int argc, char** argv) {
    const int file = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) {
        fputs("usage: marked EVENTS\n", stderr);
        return 2;
    }
    const size_t count = (size_t)status.st_size / sizeof(struct Event);
    const struct Event* const events = mapped(file, (size_t)status.st_size + 1);
    void** const slots = mapped(-1, (count + 1) * sizeof(void*));
    for (size_t at = 0; at < count; ++at) {
        char* const object = perform(&events[at], slots[events[at].slot]);
        slots[events[at].slot] = object;
        if (object != NULL && events[at].size != 0) {
            object[0] = 1;
            object[events[at].size - 1] = 1;
        }
    }
    return 0;
}
