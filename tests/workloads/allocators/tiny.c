/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * An allocator whose behaviour is known, to be preloaded under the workloads. Objects have a power
 * of two bytes. Each size comes from a part of the address space of its own, without headers.
 *
 *   PLAIN      one lock, one cursor and one list a size: each neighbour goes to the next request
 *   PRIVATE    each thread has a cursor, which moves through pages of its own, and a list of the
 *              objects that it freed
 *   LEAST=N    the least size; with 64, no two objects are ever in one cache line
 *
 * Mistakes are made with an object that is allocated late enough to be a workload's:
 *
 *   OVERLAP    begins 16 bytes before the end of the last one
 *   TWICE      is the last one
 *   SKEWED     begins 4 bytes too late
 *   SCRIBBLE   has a byte changed later
 *   DIRTY      calloc does not clear
 *   FORGETFUL  realloc does not copy
 *   POOR=N     there is none after N
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#ifndef LEAST
#define LEAST 8
#endif
#ifndef POOR
#define POOR 0
#endif
#ifdef PRIVATE
#define OWN __thread
#else
#define OWN
#endif

enum { CLASSES = 30, PAGE = 8192, LATE = 300 };
static const size_t part = (size_t)1 << 32;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char* base;
static char* unused[CLASSES]; /* what no thread has got yet, of each size */
static OWN char *cursor[CLASSES], *end[CLASSES];
static OWN void* waiting[CLASSES];
static long made;
static char* last;
static size_t last_size;

static unsigned class_of(size_t size) {
    unsigned class = 3;
    while (((size_t)1 << class) < size || ((size_t)1 << class) < LEAST)
        ++class;
    return class;
}

static unsigned class_at(const void* object) {
    return (unsigned)(((const char*)object - base) / (ptrdiff_t)part);
}

static void begin(void) {
    base = mmap(NULL, part * (CLASSES + 1), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    base = (char*)(((uintptr_t)base + part - 1) / part * part);
    for (int class = 0; class < CLASSES; ++class)
        unused[class] = base + part * (size_t) class;
}

static void* serve(unsigned class) {
    const size_t size = (size_t)1 << class;
    if (waiting[class] != NULL) {
        void* object = waiting[class];
        memcpy(&waiting[class], object, sizeof(void*));
        return object;
    }
    if (cursor[class] == end[class]) {
        const size_t length = size > PAGE ? size : PAGE;
        cursor[class] = unused[class];
        end[class] = unused[class] = cursor[class] + length;
    }
    cursor[class] += size;
    return cursor[class] - size;
}

/* What the allocator does wrong with the object that is due: one that may stand anywhere, or its
 * place would be found wrong first. */
static void* spoiled(char* object, size_t size, int anywhere) {
    static int spoilt;
    const int due = anywhere && made >= LATE && !spoilt && last != NULL && last_size >= 32;
#ifdef OVERLAP
    if (due)
        object = last + (last_size - 16) / 16 * 16;
#endif
#ifdef TWICE
    if (due)
        object = last;
#endif
#ifdef SKEWED
    if (due)
        object += 4;
#endif
#ifdef SCRIBBLE
    /* Another thread may not have written its object yet, or may be about to free it. Then the
     * change has no effect, so each later object is changed as well. */
    if (due)
        last[20] ^= 1;
#else
    spoilt |= due;
#endif
    last = object;
    last_size = size;
    return object;
}

static void* given(size_t size, int anywhere) {
    const unsigned class = class_of(size);
    pthread_mutex_lock(&lock);
    if (base == NULL)
        begin();
    char* object = NULL;
    ++made;
    if (class < CLASSES && (POOR == 0 || made <= POOR))
        object = spoiled(serve(class), size, anywhere);
    pthread_mutex_unlock(&lock);
    if (object == NULL)
        errno = ENOMEM;
    return object;
}

void* malloc(size_t size) {
    return given(size, 1);
}

void free(void* object) {
    if (object == NULL)
        return;
    pthread_mutex_lock(&lock);
    const unsigned class = class_at(object);
    memcpy(object, &waiting[class], sizeof(void*));
    waiting[class] = object;
    if (object == last)
        last = NULL;
    pthread_mutex_unlock(&lock);
}

void* calloc(size_t count, size_t size) {
    void* object = malloc(count * size);
#ifdef SCRIBBLE
    /* A change after the memset would be reported as memory that calloc did not clear. */
    pthread_mutex_lock(&lock);
    if (object == last)
        last = NULL;
    pthread_mutex_unlock(&lock);
#endif
#ifndef DIRTY
    if (object != NULL)
        memset(object, 0, count * size);
#else
    if (object != NULL)
        memset(object, made < LATE ? 0 : 7, count * size);
#endif
    return object;
}

void* realloc(void* object, size_t size) {
    if (object == NULL)
        return malloc(size);
    const size_t held = (size_t)1 << class_at(object);
    if (size <= held)
        return object;
    char* moved = malloc(size);
    if (moved == NULL)
        return NULL;
#ifndef FORGETFUL
    memcpy(moved, object, held);
#endif
    free(object);
    return moved;
}

void* memalign(size_t alignment, size_t size) {
    return given(size > alignment ? size : alignment, 0);
}

int posix_memalign(void** result, size_t alignment, size_t size) {
    *result = memalign(alignment, size);
    return *result == NULL ? ENOMEM : 0;
}

void* aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}

size_t malloc_usable_size(void* object) {
    return object == NULL ? 0 : (size_t)1 << class_at(object);
}
