// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything that the documented interface of obstacks has, in words. The output must be the same
// with the C library's header and with the project's.
#define _GNU_SOURCE
#include "obstack_header.h"

#include "check.h"

#include <string.h>

#define obstack_chunk_alloc countedMalloc
#define obstack_chunk_free countedFree

static int chunks;

static void* countedMalloc(size_t size) {
    ++chunks;
    return malloc(size);
}

static void countedFree(void* chunk) {
    --chunks;
    free(chunk);
}

static void* pooledMalloc(void* pool, size_t size) {
    ++*(int*)pool;
    return malloc(size);
}

static void pooledFree(void* pool, void* chunk) {
    --*(int*)pool;
    free(chunk);
}

static void finishedObjects(struct obstack* h) {
    char* copy = obstack_copy(h, "copied", 7);
    char* copy0 = obstack_copy0(h, "terminated text", 10);
    int* numbers = obstack_alloc(h, 10 * sizeof(int));
    for (int i = 0; i < 10; ++i)
        numbers[i] = i * i;
    printf("%s %s %d\n", copy, copy0, numbers[9]);
    printf("aligned %d %d\n", (int)((uintptr_t)copy0 % 16), (int)((uintptr_t)numbers % 16));
    obstack_free(h, copy0);
    printf("again %d\n", (char*)obstack_alloc(h, 1) == copy0);
}

static void growingObjects(struct obstack* h) {
    obstack_grow(h, "grown", 5);
    obstack_1grow(h, ' ');
    obstack_grow0(h, "and ended", 9);
    printf("size %d\n", (int)obstack_object_size(h));
    printf("base %s\n", (char*)obstack_base(h));
    printf("next %d\n", (int)((char*)obstack_next_free(h) - (char*)obstack_base(h)));
    char* text = obstack_finish(h);
    printf("%s, then %d\n", text, (int)obstack_object_size(h));

    obstack_blank(h, 8);
    memset(obstack_base(h), 'x', 8);
    obstack_blank(h, -3);
    printf("cut to %d\n", (int)obstack_object_size(h));
    obstack_1grow(h, 0);
    printf("%s\n", (char*)obstack_finish(h));

    int anchor = 0;
    obstack_int_grow(h, 42);
    obstack_int_grow(h, -1);
    obstack_ptr_grow(h, &anchor);
    int pair[2];
    int* back;
    memcpy(pair, obstack_base(h), sizeof pair);
    memcpy(&back, (char*)obstack_base(h) + sizeof pair, sizeof back);
    printf("%d %d %d\n", pair[0], pair[1], back == &anchor);
    obstack_free(h, obstack_finish(h));
}

static void fastGrowth(struct obstack* h) {
    obstack_make_room(h, 100);
    printf("room %d\n", obstack_room(h) >= 100);
    obstack_1grow_fast(h, 'f');
    obstack_1grow_fast(h, 0);
    obstack_blank_fast(h, 6);
    obstack_ptr_grow_fast(h, h);
    obstack_int_grow_fast(h, 7);
    printf("%s %d\n", (char*)obstack_base(h), (int)obstack_object_size(h));
    obstack_free(h, obstack_finish(h));
}

static void largeObjects(struct obstack* h) {
    char* mark = obstack_alloc(h, 0);
    for (int i = 0; i < 30000; ++i)
        obstack_1grow(h, (char)('a' + i % 26));
    obstack_1grow(h, 0);
    char* text = obstack_finish(h);
    printf("%d %c\n", (int)strlen(text), text[29999]);
    for (int i = 0; i < 50; ++i)
        memset(obstack_alloc(h, 1000), i, 1000);
    int before = chunks;
    obstack_free(h, mark);
    printf("chunks went %d\n", chunks < before);
}

static void printed(struct obstack* h) {
    int length = obstack_printf(h, "%d and %s", 12, "some");
    obstack_1grow(h, 0);
    printf("%d: %s\n", length, (char*)obstack_finish(h));
    length = obstack_printf(h, "%9000d", 1);
    printf("%d %d\n", length, (int)obstack_object_size(h));
    obstack_free(h, obstack_finish(h));
}

static void alignment(void) {
    struct obstack h;
    obstack_begin(&h, 200);
    obstack_alignment_mask(&h) = 63;
    for (int i = 0; i < 20; ++i) {
        obstack_alloc(&h, 1);
        CHECK((uintptr_t)obstack_base(&h) % 64 == 0 || obstack_room(&h) == 0);
    }
    obstack_alignment_mask(&h) = 0;
    obstack_finish(&h);
    char* first = obstack_copy(&h, "a", 1);
    char* second = obstack_copy(&h, "b", 1);
    printf("side by side %d\n", (int)(second - first));
    obstack_chunk_size(&h) = 10000;
    obstack_blank(&h, 5000);
    printf("room %d\n", obstack_room(&h) >= 4000);
    obstack_free(&h, NULL);
    printf("chunks %d\n", chunks);
}

static void otherSources(void) {
    struct obstack h;
    int pool = 0;
    obstack_specify_allocation_with_arg(&h, 0, 0, pooledMalloc, pooledFree, &pool);
    printf("pool %d\n", pool);
    for (int i = 0; i < 100; ++i)
        obstack_alloc(&h, 500);
    printf("more %d\n", pool > 5);
    obstack_free(&h, NULL);
    printf("pool %d\n", pool);
    obstack_specify_allocation(&h, 1000, 32, countedMalloc, countedFree);
    printf("aligned %d\n", (int)((uintptr_t)obstack_alloc(&h, 1) % 32));
    obstack_free(&h, NULL);
}

int main(void) {
    struct obstack h;
    printf("init %d\n", obstack_init(&h));
    printf("empty %d\n", obstack_empty_p(&h));
    finishedObjects(&h);
    printf("empty %d\n", obstack_empty_p(&h));
    growingObjects(&h);
    fastGrowth(&h);
    largeObjects(&h);
    printed(&h);
    printf("used %d\n", obstack_memory_used(&h) >= 4000);
    obstack_free(&h, NULL);
    printf("chunks %d\n", chunks);
    printf("init %d\n", obstack_init(&h));
    obstack_free(&h, NULL);
    alignment();
    otherSources();
    return 0;
}
