// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory runs out at every point of a work with nested reaps and regions. The existing objects are
// still there, all of them can be freed, and nothing leaks (the sanitizer looks). Linked with
// --wrap=malloc.
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include "check.h"

#include <string.h>

typedef struct heapwright_reap Reap;
typedef struct heapwright_region Region;

static size_t calls;
static size_t refused; // the first call that gets null, and all after it; 0: none

void* __real_malloc(size_t size);
void* __wrap_malloc(size_t size);

void* __wrap_malloc(size_t size) {
    ++calls;
    return refused != 0 && calls >= refused ? NULL : __real_malloc(size);
}

/// Reaps in each other, with objects in each; gives how many there were memory for.
static int descend(Reap* root, int depth) {
    Reap* parent = root;
    for (int i = 0; i < depth; ++i) {
        Reap* reap = heapwright_reap_create(parent);
        if (reap == NULL)
            return i;
        CHECK(heapwright_reap_parent(reap) == parent);
        char* first = heapwright_reap_malloc(reap, 1000);
        char* second = heapwright_reap_malloc(reap, 20000);
        if (first != NULL) {
            memset(first, i, 1000);
            char* larger = heapwright_reap_realloc(reap, first, 50000);
            CHECK((larger == NULL ? first : larger)[999] == (char)i);
            heapwright_reap_free(reap, larger == NULL ? first : larger);
        }
        if (second != NULL)
            memset(second, i, 20000);
        heapwright_reap_free(reap, second);
        parent = reap;
    }
    return depth;
}

static int descendInRegions(Region* root, int depth) {
    Region* parent = root;
    for (int i = 0; i < depth; ++i) {
        Region* region = heapwright_region_create(parent);
        if (region == NULL)
            return i;
        char* object = heapwright_region_alloc(region, 10000);
        if (object != NULL)
            memset(object, i, 10000);
        parent = region;
    }
    return depth;
}

int main(void) {
    enum { kDepth = 10 };
    int least = kDepth, most = 0;
    for (size_t first = 1; first <= 80; ++first) {
        Reap* reap = heapwright_reap_create(NULL);
        Region* region = heapwright_region_create(NULL);
        char* text = heapwright_reap_strdup(reap, "still there");
        CHECK(reap != NULL && region != NULL && text != NULL);
        calls = 0;
        refused = first;
        const int reached = descend(reap, kDepth);
        least = reached < least ? reached : least;
        most = reached > most ? reached : most;
        CHECK(descendInRegions(region, kDepth) <= kDepth);
        CHECK(strcmp(text, "still there") == 0);
        heapwright_reap_free(reap, text);
        if (first % 2 == 0) {
            heapwright_reap_clear(reap);
            heapwright_region_clear(region);
        }
        refused = 0;
        CHECK(heapwright_reap_malloc(reap, 100000) != NULL); // and goes on when there is some
        CHECK(heapwright_region_alloc(region, 100000) != NULL);
        heapwright_reap_destroy(reap);
        heapwright_region_destroy(region);
    }
    CHECK(least == 0 && most == kDepth); // from the first call on, and not at all
    return 0;
}
