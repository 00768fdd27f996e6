// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// With ONE_BY_ONE for libraries in which each object is one of malloc's.
#include <heapwright/c/obstack.h>
#include <heapwright/c/reap.h>

#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

typedef struct heapwright_reap Reap;

enum { kObjects = 2000 };
static unsigned char* objects[kObjects];
static size_t sizes[kObjects];

static void check(int i) {
    for (size_t at = 0; at < sizes[i]; ++at)
        CHECK(objects[i][at] == (unsigned char)i);
}

static void place(Reap* reap, int i, unsigned char* object, size_t size, size_t alignment) {
    CHECK(object != NULL && (uintptr_t)object % alignment == 0);
    CHECK(heapwright_reap_size(reap, object) >= size);
    CHECK(heapwright_reap_owns(reap, object));
    objects[i] = object;
    sizes[i] = size;
    memset(object, i, size);
}

/// Makes, frees and resizes objects at random; each is checked whenever it changes.
static void randomHistory(Reap* reap, uint32_t seed, unsigned steps) {
    memset(objects, 0, sizeof objects);
    for (unsigned step = 0; step < steps; ++step) {
        const int i = (int)(nextRandom(&seed) % kObjects);
        const size_t size = nextRandom(&seed) % (nextRandom(&seed) % 64 == 0 ? 40000 : 200);
        if (objects[i] == NULL) {
            const size_t alignment = (size_t)16 << (nextRandom(&seed) % 64 == 0 ? step % 9 : 0);
            place(reap, i,
                  alignment == 16 ? heapwright_reap_malloc(reap, size)
                                  : heapwright_reap_aligned_alloc(reap, alignment, size),
                  size, alignment);
        } else if (nextRandom(&seed) % 4 == 0) {
            unsigned char* object = heapwright_reap_realloc(reap, objects[i], size);
            sizes[i] = size < sizes[i] ? size : sizes[i];
            objects[i] = object;
            check(i);
            place(reap, i, object, size, 16);
        } else {
            check(i);
            heapwright_reap_free(reap, objects[i]);
            objects[i] = NULL;
        }
    }
    for (int i = 0; i < kObjects; ++i)
        if (objects[i] != NULL)
            check(i);
}

static void objectsStandApart(int shared) {
    Reap* reap = shared ? heapwright_reap_create_shared(NULL) : heapwright_reap_create(NULL);
    for (uint32_t seed = 1; seed <= 3; ++seed) {
        randomHistory(reap, seed, 30000);
        CHECK(heapwright_reap_memory_used(reap) > 0);
        heapwright_reap_clear(reap);
        CHECK(heapwright_reap_memory_used(reap) == 0);
        CHECK(!heapwright_reap_owns(reap, objects[0]));
    }
    heapwright_reap_destroy(reap);
}

/// What is freed serves again: the memory of a reap does not grow with what passes through it.
static void memoryStaysBounded(void) {
    Reap* reap = heapwright_reap_create(NULL);
    void* kept[100] = {0};
    uint32_t state = 1;
    for (int i = 0; i < 200000; ++i) {
        void** slot = &kept[nextRandom(&state) % 100];
        heapwright_reap_free(reap, *slot);
        *slot = heapwright_reap_malloc(reap, nextRandom(&state) % 1000);
        CHECK(*slot != NULL);
    }
    CHECK(heapwright_reap_memory_used(reap) < 300000);
    heapwright_reap_destroy(reap);
}

#ifndef ONE_BY_ONE
static void asARegion(void) {
    Reap* reap = heapwright_reap_create(NULL);
    CHECK(heapwright_reap_memory_used(reap) == 0);
    char* first = heapwright_reap_malloc(reap, 24);
    char* second = heapwright_reap_malloc(reap, 40);
    CHECK(second == first + 32); // one behind the other
    CHECK(heapwright_reap_malloc(reap, 0) == second + 48);
    CHECK(heapwright_reap_malloc(reap, 0) == second + 48 + 32);
    heapwright_reap_destroy(reap);
}

static void theLastObjectGrowsInPlace(void) {
    Reap* reap = heapwright_reap_create(NULL);
    char* text = heapwright_reap_strdup(reap, "text");
    char* same = heapwright_reap_realloc(reap, text, 3000);
    CHECK(same == text && strcmp(same, "text") == 0);
    CHECK(heapwright_reap_malloc(reap, 10) != NULL);
    char* moved = heapwright_reap_realloc(reap, same, 6000);
    CHECK(moved != same && strcmp(moved, "text") == 0);
    heapwright_reap_destroy(reap);
}

#endif

/// Its chunks go with the reap, or before.
static void anObstackInAReap(void) {
    Reap* reap = heapwright_reap_create(NULL);
    for (int round = 0; round < 2; ++round) {
        struct obstack names;
        CHECK(obstack_begin_in(&names, reap));
        char* first = NULL;
        for (int i = 0; i < 10000; ++i) {
            obstack_grow(&names, "a name", 6);
            obstack_1grow(&names, 0);
            char* name = obstack_finish(&names);
            first = i == 0 ? name : first;
        }
        CHECK(strcmp(first, "a name") == 0);
        CHECK(heapwright_reap_memory_used(reap) >= 70000);
        if (round == 0) {
            obstack_free(&names, NULL);
            CHECK(heapwright_reap_malloc(reap, 100) != NULL);
        }
    }
    heapwright_reap_destroy(reap);
}

/// The sanitizer's leak check sees memory that is not freed.
static void childrenDieWithTheirParents(void) {
    Reap* root = heapwright_reap_create(NULL);
    CHECK(heapwright_reap_parent(root) == NULL);
    for (int round = 0; round < 3; ++round) {
        Reap* child = heapwright_reap_create(root);
        Reap* other = heapwright_reap_create_shared(root);
        Reap* grandchild = heapwright_reap_create(child);
        CHECK(child != NULL && other != NULL && grandchild != NULL);
        CHECK(heapwright_reap_parent(grandchild) == child);
        CHECK(heapwright_reap_parent(other) == root);
        for (int i = 0; i < 100; ++i) {
            CHECK(heapwright_reap_malloc(root, 500) != NULL);
            CHECK(heapwright_reap_malloc(child, 500) != NULL);
            heapwright_reap_free(grandchild, heapwright_reap_malloc(grandchild, 500));
        }
        void* mine = heapwright_reap_malloc(other, 10);
        CHECK(heapwright_reap_owns(other, mine) && !heapwright_reap_owns(child, mine));
        if (round == 0)
            heapwright_reap_destroy(other);
        if (round == 1)
            heapwright_reap_clear(child); // the grandchild is gone
        if (round < 2)
            heapwright_reap_clear(root);
    }
    heapwright_reap_destroy(root);
    heapwright_reap_destroy(NULL);
}

/// Each in the one before, then all in one.
static void aMillionNestedReaps(void) {
    enum { kReaps = 1000000 };
    for (int deep = 0; deep <= 1; ++deep) {
        Reap* root = heapwright_reap_create(NULL);
        Reap* parent = root;
        for (int i = 0; i < kReaps; ++i) {
            Reap* reap = heapwright_reap_create(parent);
            CHECK(reap != NULL);
            if (i % 1000 == 0)
                CHECK(heapwright_reap_malloc(reap, 100) != NULL);
            if (deep)
                parent = reap;
        }
        if (deep)
            heapwright_reap_clear(root);
        heapwright_reap_destroy(root);
    }
}

static void helpers(void) {
    Reap* reap = heapwright_reap_create(NULL);
    CHECK(strcmp(heapwright_reap_strdup(reap, "a string"), "a string") == 0);
    CHECK(memcmp(heapwright_reap_copy(reap, "bytes", 5), "bytes", 5) == 0);
    memset(heapwright_reap_malloc(reap, 5000), 1, 5000);
    heapwright_reap_clear(reap);
    const int* zeros = heapwright_reap_calloc(reap, 1000, sizeof *zeros);
    for (int i = 0; i < 1000; ++i)
        CHECK(zeros[i] == 0);
    for (size_t alignment = 1; alignment <= 1 << 16; alignment *= 2) {
        char* object = heapwright_reap_aligned_alloc(reap, alignment, 100);
        CHECK((uintptr_t)object % alignment == 0);
        memset(object, 1, heapwright_reap_size(reap, object));
    }
    CHECK(heapwright_reap_aligned_alloc(reap, 0, 100) == NULL);
    CHECK(heapwright_reap_aligned_alloc(reap, 48, 100) == NULL);
    CHECK(heapwright_reap_realloc(reap, NULL, 10) != NULL);
    heapwright_reap_free(reap, NULL);
    heapwright_reap_destroy(reap);
}

static void whatNoMemoryCanHold(void) {
    Reap* reap = heapwright_reap_create(NULL);
    const volatile size_t most = SIZE_MAX;
    char* text = heapwright_reap_strdup(reap, "text");
    errno = 77;
    for (size_t less = 0; less < 64; ++less) {
        CHECK(heapwright_reap_malloc(reap, most - less) == NULL);
        CHECK(heapwright_reap_realloc(reap, text, most - less) == NULL);
    }
    CHECK(heapwright_reap_malloc(reap, most / 2) == NULL);
    CHECK(heapwright_reap_calloc(reap, most / 2, 3) == NULL);
    CHECK(heapwright_reap_aligned_alloc(reap, 64, most - 10) == NULL);
    CHECK(heapwright_reap_aligned_alloc(reap, most / 2 + 1, 10) == NULL);
    CHECK(errno == 77 && strcmp(text, "text") == 0);
    CHECK(heapwright_reap_malloc(reap, 10) != NULL);
    heapwright_reap_destroy(reap);
}

static void* useShared(void* argument) {
    Reap* root = argument;
    for (int round = 0; round < 500; ++round) {
        Reap* mine = heapwright_reap_create(root);
        char* theirs = heapwright_reap_malloc(root, 100);
        char* own = heapwright_reap_malloc(mine, 100);
        CHECK(mine != NULL && theirs != NULL && own != NULL);
        memset(theirs, round, 100);
        memset(own, round, 100);
        theirs = heapwright_reap_realloc(root, theirs, 300);
        CHECK(theirs[99] == (char)round && own[99] == (char)round);
        heapwright_reap_free(root, theirs);
        if (round % 2 == 0)
            heapwright_reap_destroy(mine); // the others go with the root
    }
    return NULL;
}

static void threadsShareAReap(void) {
    Reap* root = heapwright_reap_create_shared(NULL);
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i)
        CHECK(pthread_create(&threads[i], NULL, useShared, root) == 0);
    for (int i = 0; i < 4; ++i)
        CHECK(pthread_join(threads[i], NULL) == 0);
    heapwright_reap_destroy(root);
}

int main(void) {
    objectsStandApart(0);
    objectsStandApart(1);
    memoryStaysBounded();
#ifndef ONE_BY_ONE
    asARegion();
    theLastObjectGrowsInPlace();
#endif
    anObstackInAReap();
    childrenDieWithTheirParents();
    aMillionNestedReaps();
    helpers();
    whatNoMemoryCanHold();
    threadsShareAReap();
    return 0;
}
