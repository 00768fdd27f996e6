// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#define HEAPWRIGHT_XALLOC_SHORT_NAMES
#include <heapwright/c/xalloc.h>

#include "check.h"

#include <string.h>

static void oneAreaForTheProgram(void) {
    CHECK(xalloc(10) == NULL); // before there is one
    heapwright_xfree_all();
    CHECK(!heapwright_xalloc_init(8));
    CHECK(heapwright_xalloc_init(1 << 20));
    CHECK(!heapwright_xalloc_init(1 << 20)); // there is one
    char* first = xalloc(100);
    char* second = xalloc(100);
    char* third = xalloc(100);
    xfree(second);
    CHECK((char*)xalloc(100) > third);
    heapwright_xfree_all();
    CHECK(xalloc(100) == first);
    CHECK(xalloc(1 << 20) == NULL);
    CHECK(xalloc(SIZE_MAX) == NULL);
    xfree(NULL);
    heapwright_xalloc_end();
    CHECK(xalloc(10) == NULL);
    CHECK(heapwright_xalloc_init(1 << 16));
    CHECK(xalloc(10) != NULL);
    heapwright_xalloc_end();
}

static void resizing(void) {
    CHECK(heapwright_xalloc_init(1 << 16));
    char* first = heapwright_xrealloc(NULL, 0, 20);
    strcpy(first, "keeps its bytes");
    CHECK(heapwright_xrealloc(first, 20, 2000) == first); // the last one stays
    char* second = xalloc(10);
    char* moved = heapwright_xrealloc(first, 2000, 3000);
    CHECK(moved > second && strcmp(moved, "keeps its bytes") == 0);
    CHECK(heapwright_xrealloc(moved, 3000, 1 << 17) == NULL);
    CHECK(strcmp(moved, "keeps its bytes") == 0);
    xfree(moved);
    xfree(second); // and the dead one before it
    CHECK(xalloc(1) == first);
    heapwright_xalloc_end();
}

/// Random histories: every object keeps what was written into it.
static void histories(void) {
    enum { kSlots = 200 };
    struct heapwright_xarea* area = heapwright_xarea_create(1 << 20);
    static unsigned char* objects[kSlots];
    static size_t sizes[kSlots];
    uint32_t state = 1;
    CHECK(area != NULL);
    char* first = heapwright_xarea_alloc(area, 1);
    heapwright_xarea_free(area, first);
    for (int step = 0; step < 200000; ++step) {
        unsigned slot = nextRandom(&state) % kSlots;
        if (objects[slot] != NULL) {
            for (size_t at = 0; at < sizes[slot]; ++at)
                CHECK(objects[slot][at] == (unsigned char)slot);
            heapwright_xarea_free(area, objects[slot]);
            objects[slot] = NULL;
        } else {
            sizes[slot] = nextRandom(&state) % 300;
            objects[slot] = heapwright_xarea_alloc(area, sizes[slot]);
            if (objects[slot] != NULL)
                memset(objects[slot], (int)slot, sizes[slot]);
        }
    }
    for (unsigned slot = 0; slot < kSlots; ++slot)
        heapwright_xarea_free(area, objects[slot]);
    CHECK(heapwright_xarea_alloc(area, 1) == (void*)first); // all of it is there again
    void* grown = heapwright_xarea_realloc(area, first, 1, 1000);
    CHECK(grown == (void*)first);
    heapwright_xarea_free_all(area);
    CHECK(heapwright_xarea_alloc(area, 1) == (void*)first);
    heapwright_xarea_destroy(area);
    CHECK(heapwright_xarea_create(SIZE_MAX) == NULL);
    CHECK(heapwright_xarea_create(1) == NULL);
}

int main(void) {
    oneAreaForTheProgram();
    resizing();
    histories();
    return 0;
}
