// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/c/region.h>

#include "check.h"

#include <string.h>

typedef struct heapwright_region Region;

static void objectsStandApart(void) {
    Region* region = heapwright_region_create(NULL);
    enum { kObjects = 5000 };
    static unsigned char* objects[kObjects];
    static size_t sizes[kObjects];
    for (int round = 0; round < 3; ++round) {
        uint32_t state = 1;
        for (int i = 0; i < kObjects; ++i) {
            sizes[i] = nextRandom(&state) % (i % 50 == 0 ? 40000 : 200);
            objects[i] = heapwright_region_alloc(region, sizes[i]);
            CHECK(objects[i] != NULL && (uintptr_t)objects[i] % 16 == 0);
            memset(objects[i], i, sizes[i]);
            CHECK(heapwright_region_owns(region, objects[i]));
        }
        for (int i = 0; i < kObjects; ++i)
            for (size_t at = 0; at < sizes[i]; ++at)
                CHECK(objects[i][at] == (unsigned char)i);
        heapwright_region_clear(region);
        CHECK(!heapwright_region_owns(region, objects[0]));
    }
    heapwright_region_destroy(region);
}

static void noTwoAtOneAddress(void) {
    Region* region = heapwright_region_create(NULL);
    char* before = heapwright_region_alloc(region, 0);
    CHECK(before != NULL);
    for (int i = 0; i < 2000; ++i) {
        char* object = heapwright_region_alloc(region, 0);
        CHECK(object != NULL && object != before);
        before = object;
    }
    heapwright_region_destroy(region);
}

/// The sanitizer's leak check sees memory that is not freed.
static void childrenDieWithTheirParents(void) {
    Region* root = heapwright_region_create(NULL);
    for (int round = 0; round < 3; ++round) {
        Region* child = heapwright_region_create(root);
        Region* other = heapwright_region_create(root);
        Region* grandchild = heapwright_region_create(child);
        CHECK(child != NULL && other != NULL && grandchild != NULL);
        CHECK(heapwright_region_parent(grandchild) == child);
        CHECK(heapwright_region_parent(child) == root && heapwright_region_parent(root) == NULL);
        for (int i = 0; i < 100; ++i) {
            CHECK(heapwright_region_alloc(root, 500) != NULL);
            CHECK(heapwright_region_alloc(child, 500) != NULL);
            CHECK(heapwright_region_alloc(grandchild, 500) != NULL);
        }
        void* mine = heapwright_region_alloc(other, 10);
        CHECK(heapwright_region_owns(other, mine) && !heapwright_region_owns(child, mine));
        if (round == 0)
            heapwright_region_destroy(other);
        if (round == 1)
            heapwright_region_clear(child); // the grandchild is gone
        if (round < 2)
            heapwright_region_clear(root);
    }
    heapwright_region_destroy(root);
    heapwright_region_destroy(NULL);
}

/// A region that comes and goes leaves nothing behind in the one that it was in.
static void memoryIsCounted(void) {
    Region* root = heapwright_region_create(NULL);
    CHECK(heapwright_region_memory_used(root) == 0);
    for (int i = 0; i < 1000; ++i) {
        Region* child = heapwright_region_create(root);
        CHECK(heapwright_region_alloc(child, 20000) != NULL);
        CHECK(heapwright_region_memory_used(child) >= 20000);
        heapwright_region_destroy(child);
    }
    CHECK(heapwright_region_memory_used(root) == 0);
    heapwright_region_destroy(root);
}

static void helpers(void) {
    Region* region = heapwright_region_create(NULL);
    CHECK(strcmp(heapwright_region_strdup(region, "a string"), "a string") == 0);
    CHECK(memcmp(heapwright_region_copy(region, "bytes", 5), "bytes", 5) == 0);
    const int* zeros = heapwright_region_calloc(region, 1000, sizeof *zeros);
    for (int i = 0; i < 1000; ++i)
        CHECK(zeros[i] == 0);
    for (size_t alignment = 1; alignment <= 1 << 16; alignment *= 2) {
        char* object = heapwright_region_alloc_aligned(region, alignment, 100);
        CHECK((uintptr_t)object % alignment == 0);
        memset(object, 1, 100);
    }
    CHECK(heapwright_region_alloc_aligned(region, 0, 100) == NULL);
    CHECK(heapwright_region_alloc_aligned(region, 48, 100) == NULL);
    heapwright_region_destroy(region);
}

static void whatNoMemoryCanHold(void) {
    Region* region = heapwright_region_create(NULL);
    const volatile size_t most = SIZE_MAX;
    for (size_t less = 0; less < 64; ++less)
        CHECK(heapwright_region_alloc(region, most - less) == NULL);
    CHECK(heapwright_region_alloc(region, most / 2) == NULL);
    CHECK(heapwright_region_calloc(region, most / 2, 3) == NULL);
    CHECK(heapwright_region_alloc_aligned(region, 64, most - 10) == NULL);
    CHECK(heapwright_region_alloc(region, 10) != NULL);
    heapwright_region_destroy(region);
}

int main(void) {
    objectsStandApart();
    noTwoAtOneAddress();
    childrenDieWithTheirParents();
    memoryIsCounted();
    helpers();
    whatNoMemoryCanHold();
    return 0;
}
