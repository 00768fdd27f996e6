/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Programs most of whose memory is not malloc's.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pace.h"

enum { megabyte = 1 << 20, size = 80 * megabyte };

static char* mapped(size_t bytes, int file) {
    const int kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void* found = mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind, file, 0);
    if (found == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    return (char*)found;
}

static void go_on(void) {
    for (unsigned i = 0; i < 400; ++i) {
        serve(i);
        pace(2000);
    }
}

static void anonymous(void) {
    touched(mapped(size, -1), size);
    go_on();
}

/* One megabyte more each 12 ms */
static void growing(void) {
    for (unsigned i = 0; i < 96; ++i) {
        serve(i);
        touched(mapped(megabyte, -1), megabyte);
        pace(12000);
    }
}

static void file(void) {
    char name[] = "/tmp/heapwright-answers-XXXXXX";
    const int descriptor = mkstemp(name);
    if (descriptor < 0 || unlink(name) != 0 || ftruncate(descriptor, size) != 0) {
        perror(name);
        exit(2);
    }
    touched(mapped(size, descriptor), size);
    go_on();
}

static char table[size];

static void bss(void) {
    touched(table, size);
    go_on();
}

static PLACE void* use_stack(void* unused) {
    enum { used = 2 * megabyte };
    char room[used];
    touched(room, used);
    pace(800000);
    return unused;
}

static void stacks(void) {
    enum { threads = 40 };
    pthread_t all[threads];
    for (unsigned i = 0; i < threads; ++i) {
        if (pthread_create(&all[i], NULL, use_stack, NULL) != 0) {
            exit(2);
        }
    }
    for (unsigned i = 0; i < threads; ++i) {
        pthread_join(all[i], NULL);
    }
}

/* An allocator of the program's own. Objects are cut from mapped chunks and are never returned. */
static char *chunk, *chunk_end;

static PLACE char* own_malloc(size_t bytes) {
    if (chunk == NULL || chunk + bytes > chunk_end) {
        chunk = mapped(megabyte, -1);
        chunk_end = chunk + megabyte;
    }
    char* object = chunk;
    chunk += bytes;
    return object;
}

static void own_heap(void) {
    for (unsigned i = 0; i < 1000; ++i) {
        for (unsigned j = 0; j < 80; ++j) {
            touched(own_malloc(1024), 1024);
        }
        pace(1200);
    }
}

/* As much in malloc as in a mapping, and both stay: neither a leak nor a growth. */
static void half_and_half(void) {
    static KEPT char* kept[30];
    touched(mapped(64 * megabyte, -1), 64 * megabyte);
    for (unsigned i = 0; i < 30; ++i) {
        kept[i] = TAKE(megabyte);
    }
    go_on();
}

/* A mapping of 80 MiB and a leak of 1 MB a second besides. */
static PLACE void forget(void) {
    TAKE(2000);
}

static void mapping_and_leak(void) {
    touched(mapped(size, -1), size);
    for (unsigned i = 0; i < 1000; ++i) {
        serve(i);
        forget();
        pace(2000);
    }
}

SCENARIOS({"anonymous", anonymous}, {"growing", growing}, {"file", file}, {"bss", bss},
          {"stacks", stacks}, {"own-heap", own_heap}, {"half-and-half", half_and_half},
          {"mapping-and-leak", mapping_and_leak})
