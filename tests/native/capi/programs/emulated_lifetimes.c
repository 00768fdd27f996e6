// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The requests of the emulated library to malloc, call by call. Each object is one of malloc's,
// with just its size. It is freed exactly when its region, reap or area dies, or when it is freed
// by itself. It is also freed when an earlier object on its obstack is freed. Nothing else is ever
// freed. The calls are wrapped by the linker (--wrap) and written down.
#define _GNU_SOURCE
#include <heapwright/c/obstack.h>
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>
#include <heapwright/c/xalloc.h>

#include "check.h"

#include <errno.h>
#include <string.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

enum { kMost = 100000 };

static struct {
    void* object;
    size_t size;
} live[kMost];
static size_t count; ///< live objects
static size_t calls; ///< of anything
static void* lastFreed;
static size_t lastSize;

void* __real_malloc(size_t size);
void* __real_calloc(size_t number, size_t size);
void* __real_realloc(void* object, size_t size);
int __real_posix_memalign(void** object, size_t alignment, size_t size);
void __real_free(void* object);
void* __wrap_malloc(size_t size);
void* __wrap_calloc(size_t number, size_t size);
void* __wrap_realloc(void* object, size_t size);
int __wrap_posix_memalign(void** object, size_t alignment, size_t size);
void __wrap_free(void* object);

static void* born(void* object, size_t size) {
    ++calls;
    if (object != NULL) {
        CHECK(count < kMost);
        live[count].object = object;
        live[count++].size = lastSize = size;
    }
    return object;
}

static void died(void* object) {
    ++calls;
    size_t at = count;
    while (at > 0 && live[at - 1].object != object)
        --at;
    CHECK(at > 0); // it was live
    memmove(live + at - 1, live + at, (count - at) * sizeof *live);
    --count;
    lastFreed = object;
}

void* __wrap_malloc(size_t size) {
    return born(__real_malloc(size), size);
}

void* __wrap_calloc(size_t number, size_t size) {
    return born(__real_calloc(number, size), number * size);
}

void* __wrap_realloc(void* object, size_t size) {
    void* moved = __real_realloc(object, size);
    if (moved != NULL) {
        died(object);
        born(moved, size);
    }
    return moved;
}

int __wrap_posix_memalign(void** object, size_t alignment, size_t size) {
    int error = __real_posix_memalign(object, alignment, size);
    born(error == 0 ? *object : NULL, size);
    return error;
}

void __wrap_free(void* object) {
    if (object != NULL)
        died(object);
    __real_free(object);
}

static void regions(void) {
    struct heapwright_region* root = heapwright_region_create(NULL);
    struct heapwright_region* child = heapwright_region_create(root);
    struct heapwright_region* grandchild = heapwright_region_create(child);
    CHECK(calls == 0); // regions are no objects
    CHECK(heapwright_region_parent(grandchild) == child && heapwright_region_parent(root) == NULL);
    for (size_t size = 0; size < 1000; ++size) {
        char* object = heapwright_region_alloc(root, size);
        CHECK(object == live[count - 1].object && lastSize == (size == 0 ? 1 : size));
        memset(object, 1, size);
        heapwright_region_alloc(child, 10);
        heapwright_region_alloc(grandchild, 20);
        CHECK(count == 3 * (size + 1) && calls == count);
    }
    CHECK(heapwright_region_memory_used(child) >= 10000);
    heapwright_region_destroy(grandchild);
    CHECK(count == 2000);
    heapwright_region_clear(child);
    CHECK(count == 1000 && heapwright_region_memory_used(child) == 0);
    void* first = heapwright_region_strdup(child, "string");
    CHECK(lastSize == 7 && heapwright_region_owns(child, first));
    heapwright_region_calloc(child, 10, 30);
    CHECK(lastSize == 300);
    heapwright_region_alloc_aligned(child, 256, 40);
    CHECK(lastSize == 40);
    void* oldest = live[0].object;
    heapwright_region_destroy(root); // and the child; the newest first
    CHECK(count == 0 && lastFreed == oldest);
}

static void reaps(void) {
    struct heapwright_reap* root = heapwright_reap_create(NULL);
    struct heapwright_reap* child = heapwright_reap_create_shared(root);
    static void* objects[1000];
    for (size_t at = 0; at < 1000; ++at)
        objects[at] = heapwright_reap_malloc(at % 2 == 0 ? root : child, 16 + at);
    CHECK(count == 1000);
    for (size_t at = 0; at < 1000; at += 4) {
        heapwright_reap_free(root, objects[at]);
        CHECK(lastFreed == objects[at]);
    }
    CHECK(count == 750);
    heapwright_reap_free(root, NULL);
    CHECK(heapwright_reap_size(child, objects[999]) >= 1015);
    objects[1] = heapwright_reap_realloc(child, objects[1], 5000);
    CHECK(count == 750 && lastSize == 5000);
    heapwright_reap_destroy(child);
    CHECK(count == 250);
    heapwright_reap_clear(root);
    CHECK(count == 0);
    CHECK(heapwright_reap_realloc(root, NULL, 10) != NULL && count == 1);
    CHECK(heapwright_reap_malloc(root, (size_t)-1 / 2) == NULL && count == 1);
    heapwright_reap_destroy(root);
    CHECK(count == 0);
}

/// As many as there may be, and no stack that grows with them.
static void aMillionNestedReaps(void) {
    struct heapwright_reap* root = heapwright_reap_create(NULL);
    struct heapwright_reap* innermost = root;
    for (int depth = 0; depth < 1000000; ++depth) {
        innermost = heapwright_reap_create(innermost);
        CHECK(innermost != NULL);
        if (depth % 100 == 0)
            heapwright_reap_malloc(innermost, 8);
    }
    CHECK(count == 10000);
    heapwright_reap_destroy(root);
    CHECK(count == 0);
}

static void xalloc(void) {
    CHECK(heapwright_xalloc(10) == NULL && !heapwright_xalloc_init(1));
    CHECK(heapwright_xalloc_init(1 << 16) && !heapwright_xalloc_init(1 << 16));
    void* first = heapwright_xalloc(100);
    void* second = heapwright_xalloc(200);
    CHECK(count == 2 && lastSize == 200);
    heapwright_xfree(first);
    CHECK(count == 1 && lastFreed == first);
    second = heapwright_xrealloc(second, 200, 300);
    CHECK(count == 1 && lastSize == 300 && live[0].object == second);
    heapwright_xfree_all();
    CHECK(count == 0);
    heapwright_xalloc(1);
    heapwright_xalloc_end();
    CHECK(count == 0 && heapwright_xalloc(1) == NULL);

    struct heapwright_xarea* area = heapwright_xarea_create(1000);
    CHECK(area != NULL && heapwright_xarea_create((size_t)-1) == NULL);
    void* object = heapwright_xarea_realloc(area, NULL, 0, 10);
    CHECK(count == 1 && live[0].object == object);
    heapwright_xarea_free(area, object);
    heapwright_xarea_free(area, NULL);
    heapwright_xarea_alloc(area, 5);
    heapwright_xarea_free_all(area);
    CHECK(count == 0);
    heapwright_xarea_alloc(area, 5);
    heapwright_xarea_destroy(area);
    CHECK(count == 0);
}

static void obstacks(void) {
    struct obstack h;
    obstack_init(&h);
    CHECK(count == 0 && obstack_empty_p(&h));
    char* first = obstack_alloc(&h, 40);
    CHECK(count == 1 && lastSize == 40 && obstack_room(&h) == 0);
    char* second = obstack_copy0(&h, "second", 6);
    CHECK(count == 2 && lastSize == 7 && strcmp(second, "second") == 0);
    for (int i = 0; i < 1000; ++i)
        obstack_1grow(&h, 'g'); // moves as it grows: one object all the time
    CHECK(count == 3 && obstack_object_size(&h) == 1000 && lastSize < 2000);
    char* third = obstack_finish(&h);
    obstack_alloc(&h, 1);
    CHECK(count == 4 && lastSize == 1);
    obstack_free(&h, third);
    CHECK(count == 2);
    obstack_grow(&h, "begun", 5);
    CHECK(count == 3);
    obstack_free(&h, second); // and what was begun after it
    CHECK(count == 1 && lastFreed == second && obstack_object_size(&h) == 0);
    char* empty = obstack_alloc(&h, 0);
    obstack_alloc(&h, 8);
    obstack_free(&h, empty);
    CHECK(count == 1 && obstack_memory_used(&h) == 40);
    obstack_free(&h, first);
    CHECK(count == 0);
    obstack_printf(&h, "%d", 12345);
    CHECK(count == 1 && lastSize == 6);
    obstack_free(&h, NULL);
    CHECK(count == 0);
}

static void anObstackInAReap(void) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    struct obstack h;
    obstack_begin_in(&h, reap);
    void* first = obstack_alloc(&h, 10);
    obstack_alloc(&h, 20);
    CHECK(count == 2 && heapwright_reap_owns(reap, first));
    obstack_free(&h, first);
    CHECK(count == 0);
    obstack_alloc(&h, 30);
    obstack_free(&h, NULL);
    CHECK(count == 0);
    heapwright_reap_destroy(reap);
}

static void errnoIsTheProgramsOwn(void) {
    errno = 77;
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    CHECK(heapwright_reap_malloc(reap, (size_t)-1 / 2) == NULL);
    heapwright_reap_destroy(reap);
    CHECK(errno == 77);
}

int main(void) {
    regions();
    reaps();
    aMillionNestedReaps();
    xalloc();
    obstacks();
    anObstackInAReap();
    errnoIsTheProgramsOwn();
    CHECK(count == 0);
    return 0;
}
