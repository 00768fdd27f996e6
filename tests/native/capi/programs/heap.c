// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// User heaps against a model: objects stand apart, the figures are exact, and the quota holds, with
// one thread, with several, and in forked children.
#include <heapwright/c/heap.h>

#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct heapwright_heap Heap;
typedef struct heapwright_heap_figures Figures;

enum { kObjects = 500, kThreads = 6 };

typedef struct {
    unsigned char* at;
    size_t size;
    unsigned char byte;
} Object;

static Figures figuresOf(Heap* heap) {
    Figures figures;
    heapwright_heap_statistics(heap, &figures, sizeof figures);
    return figures;
}

static void fill(Object* object) {
    memset(object->at, object->byte, object->size);
}

static void verify(const Object* object) {
    for (size_t i = 0; i < object->size; ++i)
        CHECK(object->at[i] == object->byte);
}

static size_t someSize(uint32_t* state) {
    const unsigned kind = nextRandom(state) % 64;
    return nextRandom(state) % (kind == 0 ? 3000000 : kind < 4 ? 60000 : kind < 16 ? 5000 : 300);
}

/// One step of a history. Requests may be refused only if the quota has no room for them, by the
/// model. `live` is the sum of the usable bytes.
static void step(Heap* heap, Object* objects, uint32_t* state, size_t quota, size_t* live,
                 size_t* refused) {
    Object* const object = &objects[nextRandom(state) % kObjects];
    const size_t size = someSize(state);
    if (object->at == NULL) {
        const unsigned kind = nextRandom(state) % 8;
        const size_t alignment = (size_t)1 << (nextRandom(state) % 17);
        unsigned char* const at = kind == 0   ? heapwright_heap_aligned_alloc(heap, alignment, size)
                                  : kind == 1 ? heapwright_heap_calloc(heap, 1, size)
                                              : heapwright_heap_malloc(heap, size);
        if (at == NULL) {
            // It would take the next size class at most, or whole pages, behind its alignment.
            CHECK(*live + size + size / 4 + 4096 + 16 + (kind == 0 ? alignment : 0) > quota);
            ++*refused;
            return;
        }
        CHECK((uintptr_t)at % (kind == 0 ? alignment : 16) == 0);
        CHECK(heapwright_heap_owns(heap, at));
        *object = (Object){at, size, (unsigned char)nextRandom(state)};
        if (kind == 1)
            for (size_t i = 0; i < size; ++i)
                CHECK(at[i] == 0);
        *live += heapwright_heap_size(heap, at);
        fill(object);
    } else if (nextRandom(state) % 4 == 0) {
        verify(object);
        const size_t had = heapwright_heap_size(heap, object->at);
        unsigned char* const at = heapwright_heap_realloc(heap, object->at, size);
        if (at == NULL) {
            ++*refused;
            verify(object);
            CHECK(heapwright_heap_size(heap, object->at) == had);
            return;
        }
        *live = *live - had + heapwright_heap_size(heap, at);
        object->at = at;
        object->size = size < object->size ? size : object->size;
        verify(object);
        object->size = size;
        fill(object);
    } else {
        verify(object);
        *live -= heapwright_heap_size(heap, object->at);
        heapwright_heap_free(heap, object->at);
        object->at = NULL;
    }
}

static void figuresAreExact(size_t quota, uint32_t seed) {
    static Object objects[kObjects];
    memset(objects, 0, sizeof objects);
    Heap* const heap = heapwright_heap_create("exact", quota);
    CHECK(heap != NULL);
    size_t live = 0;
    size_t refused = 0;
    size_t peak = 0;
    for (int i = 0; i < 20000; ++i) {
        step(heap, objects, &seed, quota, &live, &refused);
        const Figures now = figuresOf(heap);
        peak = live > peak ? live : peak;
        CHECK(live <= quota);
        CHECK(now.live_bytes == live && now.quota_bytes == quota && now.refusals == refused);
        CHECK(now.peak_bytes >= peak && now.peak_bytes <= quota && now.mapped_bytes >= live);
        size_t count = 0;
        for (int each = 0; each < kObjects; ++each)
            count += objects[each].at != NULL;
        CHECK(now.live_objects == count && now.allocations >= count);
    }
    CHECK(quota > 100u << 20 || refused > 100);
    heapwright_heap_clear(heap);
    CHECK(figuresOf(heap).live_bytes == 0 && figuresOf(heap).live_objects == 0);
    CHECK(figuresOf(heap).mapped_bytes == 0 && figuresOf(heap).peak_bytes >= peak);
    void* const again = heapwright_heap_malloc(heap, 100);
    CHECK(again != NULL && figuresOf(heap).live_objects == 1);
    heapwright_heap_destroy(heap);
}

/// The last byte of a quota can be used, and not one more.
static void theQuotaIsReached(void) {
    Heap* const heap = heapwright_heap_create("edge", 1600);
    void* last = NULL;
    for (int i = 0; i < 100; ++i)
        CHECK((last = heapwright_heap_malloc(heap, 16)) != NULL);
    CHECK(figuresOf(heap).live_bytes == 1600 && figuresOf(heap).peak_bytes == 1600);
    CHECK(heapwright_heap_malloc(heap, 1) == NULL && heapwright_heap_calloc(heap, 1, 1) == NULL);
    CHECK(heapwright_heap_realloc(heap, last, 17) == NULL);
    CHECK(heapwright_heap_realloc(heap, last, 9) == last);
    CHECK(figuresOf(heap).refusals == 3 && figuresOf(heap).live_bytes == 1600);
    heapwright_heap_free(heap, last);
    CHECK(heapwright_heap_malloc(heap, 1) != NULL);
    heapwright_heap_set_quota(heap, 800);
    CHECK(heapwright_heap_malloc(heap, 1) == NULL && figuresOf(heap).quota_bytes == 800);
    heapwright_heap_set_quota(heap, HEAPWRIGHT_HEAP_UNLIMITED);
    CHECK(heapwright_heap_malloc(heap, 1 << 24) != NULL);
    CHECK(heapwright_heap_malloc(heap, SIZE_MAX) == NULL);
    CHECK(heapwright_heap_malloc(heap, (size_t)PTRDIFF_MAX + 1) == NULL);
    CHECK(heapwright_heap_calloc(heap, SIZE_MAX / 2, 3) == NULL);
    CHECK(heapwright_heap_aligned_alloc(heap, 48, 100) == NULL);
    heapwright_heap_destroy(heap);
}

/// A program of an earlier version passes fewer fields, one of a later version more.
static void figuresHaveASize(void) {
    Heap* const heap = heapwright_heap_create(NULL, HEAPWRIGHT_HEAP_UNLIMITED);
    CHECK(strcmp(heapwright_heap_name(heap), "") == 0);
    struct {
        Figures known;
        uint64_t later;
    } wide = {.later = 7};
    CHECK(heapwright_heap_malloc(heap, 1) != NULL);
    heapwright_heap_statistics(heap, &wide.known, sizeof wide);
    CHECK(wide.later == 0 && wide.known.allocations == 1);
    Figures some = {.peak_bytes = 5};
    heapwright_heap_statistics(heap, &some, 2 * sizeof some.live_bytes);
    CHECK(some.live_objects == 1 && some.live_bytes == 16 && some.peak_bytes == 5);
    heapwright_heap_destroy(heap);
}

static int collect(Heap* heap, void* names) {
    strcat(names, heapwright_heap_name(heap));
    strcat(names, ",");
    return strcmp(heapwright_heap_name(heap), "stop") == 0 ? 9 : 0;
}

static void heapsAreListed(void) {
    char names[400] = "";
    CHECK(heapwright_heap_each(collect, names) == 0 && names[0] == 0);
    Heap* const a = heapwright_heap_create("a", 1);
    Heap* const b = heapwright_heap_create("stop", 1);
    Heap* const c = heapwright_heap_create(
        "a name of more than forty-seven bytes is cut off somewhere here", 1);
    CHECK(heapwright_heap_each(collect, names) == 9);
    CHECK(strcmp(names, "a name of more than forty-seven bytes is cut of,stop,") == 0);
    heapwright_heap_destroy(b);
    names[0] = 0;
    CHECK(heapwright_heap_each(collect, names) == 0);
    CHECK(strcmp(names, "a name of more than forty-seven bytes is cut of,a,") == 0);
    heapwright_heap_destroy(c);
    heapwright_heap_destroy(a);
    heapwright_heap_destroy(NULL);
}

// --- threads ---

static Heap* shared[2];
static Object exchanged[64];
static pthread_mutex_t locks[64];
static atomic_bool over;
static atomic_size_t allocated[2];

/// Allocates from both heaps, and frees what other threads have put into the shared places.
static void* work(void* number) {
    uint32_t state = (uint32_t)(uintptr_t)number;
    for (int i = 0; i < 20000; ++i) {
        const unsigned place = nextRandom(&state) % 64;
        const unsigned which = place % 2;
        const size_t size = 1 + someSize(&state) % 40000;
        Object fresh = {heapwright_heap_malloc(shared[which], size), size, (unsigned char)place};
        if (fresh.at != NULL) {
            atomic_fetch_add(&allocated[which], 1);
            fill(&fresh);
        }
        pthread_mutex_lock(&locks[place]);
        const Object old = exchanged[place];
        exchanged[place] = fresh;
        pthread_mutex_unlock(&locks[place]);
        if (old.at != NULL) {
            verify(&old);
            heapwright_heap_free(shared[which], old.at);
        }
    }
    return NULL;
}

static void* watch(void* quota) {
    while (!atomic_load(&over)) {
        for (int which = 0; which < 2; ++which) {
            const Figures now = figuresOf(shared[which]);
            CHECK(now.live_bytes <= *(size_t*)quota && now.peak_bytes <= *(size_t*)quota);
        }
    }
    return NULL;
}

/// In a child, all heaps work, and can be destroyed.
static void forkOne(void) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        for (int which = 0; which < 2; ++which) {
            heapwright_heap_set_quota(shared[which], HEAPWRIGHT_HEAP_UNLIMITED);
            Object object = {heapwright_heap_malloc(shared[which], 5000), 5000, 3};
            CHECK(object.at != NULL);
            fill(&object);
            verify(&object);
            heapwright_heap_free(shared[which], object.at);
            heapwright_heap_destroy(shared[which]);
        }
        Heap* const own = heapwright_heap_create("child", 100);
        CHECK(heapwright_heap_malloc(own, 100) == NULL && heapwright_heap_malloc(own, 90) != NULL);
        _exit(0);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void threadsShareHeaps(size_t quota) {
    pthread_t threads[kThreads];
    pthread_t watcher;
    atomic_store(&over, 0);
    for (int i = 0; i < 64; ++i) {
        pthread_mutex_init(&locks[i], NULL);
        exchanged[i] = (Object){0};
    }
    for (int which = 0; which < 2; ++which) {
        shared[which] = heapwright_heap_create(which == 0 ? "even" : "odd", quota);
        CHECK(shared[which] != NULL);
        atomic_store(&allocated[which], 0);
    }
    pthread_create(&watcher, NULL, watch, &quota);
    for (uintptr_t i = 0; i < kThreads; ++i)
        pthread_create(&threads[i], NULL, work, (void*)(i + 1));
    for (int i = 0; i < 20; ++i)
        forkOne();
    for (int i = 0; i < kThreads; ++i)
        pthread_join(threads[i], NULL);
    atomic_store(&over, 1);
    pthread_join(watcher, NULL);
    for (int which = 0; which < 2; ++which) {
        uint64_t objects = 0;
        uint64_t bytes = 0;
        for (int i = which; i < 64; i += 2) {
            objects += exchanged[i].at != NULL;
            bytes +=
                exchanged[i].at == NULL ? 0 : heapwright_heap_size(shared[which], exchanged[i].at);
        }
        const Figures now = figuresOf(shared[which]);
        CHECK(now.live_objects == objects && now.live_bytes == bytes);
        CHECK(now.allocations == atomic_load(&allocated[which]));
        CHECK(now.allocations + now.refusals == kThreads * 20000 / 2 || quota < 1u << 20 ||
              now.refusals == 0);
        heapwright_heap_destroy(shared[which]);
    }
}

/// What is freed serves again, and trim returns it.
static void memoryStaysBounded(void) {
    Heap* const heap = heapwright_heap_create("bounded", HEAPWRIGHT_HEAP_UNLIMITED);
    uint32_t state = 5;
    void* kept[100] = {0};
    for (int i = 0; i < 300000; ++i) {
        const unsigned at = nextRandom(&state) % 100;
        heapwright_heap_free(heap, kept[at]);
        CHECK((kept[at] = heapwright_heap_malloc(heap, nextRandom(&state) % 30000)) != NULL);
    }
    CHECK(figuresOf(heap).mapped_bytes <= 24u << 20);
    for (int i = 0; i < 100; ++i)
        heapwright_heap_free(heap, kept[i]);
    CHECK(heapwright_heap_trim(heap) == 1 && figuresOf(heap).mapped_bytes == 0);
    CHECK(heapwright_heap_trim(heap) == 0);
    heapwright_heap_destroy(heap);
}

int main(void) {
    heapsAreListed();
    figuresHaveASize();
    theQuotaIsReached();
    figuresAreExact(HEAPWRIGHT_HEAP_UNLIMITED, 1);
    figuresAreExact(300000, 2);
    figuresAreExact(4000000, 3);
    memoryStaysBounded();
    threadsShareHeaps(HEAPWRIGHT_HEAP_UNLIMITED);
    threadsShareHeaps(200000);
    return 0;
}
