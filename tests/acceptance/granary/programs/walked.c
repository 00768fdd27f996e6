/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * walked WHAT: Walks over granary's heap while threads stand still, and compares the reported
 * objects with those known to be live ("walk"). Or uses the heap while objects are reported
 * ("walk-and-use"). Says what it found, one NAME=VALUE a line. Ends with 2 if there is no granary.
 */
#define _GNU_SOURCE
#include <heapwright/c/granary.h>

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct heapwright_granary_figures figures(void) {
    struct heapwright_granary_figures now;
    heapwright_granary_statistics(&now);
    return now;
}

enum { most = 400000 };
struct seen {
    void* address;
    size_t size;
    int size_class;
    int cached;
};
static struct seen before[most];
static struct seen after[most];
struct list {
    struct seen* objects;
    size_t count;
};

static int by_address(const void* a, const void* b) {
    const char* const one = *(char* const*)a;
    const char* const other = *(char* const*)b;
    return (one > other) - (one < other);
}

static int note(const struct heapwright_granary_object* object, void* argument) {
    struct list* const list = argument;
    if (list->count == most) {
        return 1;
    }
    list->objects[list->count++] =
        (struct seen){object->address, object->size, object->size_class, object->cached};
    return 0;
}

static struct list walked(struct seen* objects) {
    struct list list = {objects, 0};
    if (heapwright_granary_walk(note, &list) != 0) {
        puts("walk=failed");
        exit(1);
    }
    qsort(objects, list.count, sizeof *objects, by_address);
    return list;
}

static const struct seen* find(const struct list* list, const void* address) {
    return bsearch(&address, list->objects, list->count, sizeof *list->objects, by_address);
}

enum { workers = 4, each = 3000 };
static void* kept[workers][each]; /* null: freed */
static size_t sizes[workers][each];
static void* handed[workers][each / 4]; /* for the next thread to free */
static pthread_barrier_t barrier;

/* The requested size where it has to be a multiple of the alignment. */
static size_t whole(size_t size) {
    return (size + 255) / 256 * 256;
}

static void* work(void* argument) {
    const size_t number = (size_t)argument;
    unsigned random = 1 + (unsigned)number;
    pthread_barrier_wait(&barrier); /* all are there; now it is looked for the first time */
    pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < each; ++i) {
        random = random * 1103515245U + 12345U;
        const size_t size = i % 100 == 0 ? (random >> 8) % 400000 + 1 : (random >> 8) % 2000 + 1;
        sizes[number][i] = size;
        kept[number][i] = i % 7 == 0 ? aligned_alloc(256, whole(size)) : malloc(size);
    }
    for (size_t i = 0; i < each / 4; ++i) {
        handed[number][i] = kept[number][4 * i];
    }
    for (size_t i = 1; i < each; i += 4) {
        free(kept[number][i]);
        kept[number][i] = NULL;
    }
    pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < each / 4; i += 2) { /* what another thread made */
        const size_t other = (number + 1) % workers;
        free(handed[other][i]);
        kept[other][4 * i] = NULL;
    }
    pthread_barrier_wait(&barrier); /* now it is looked */
    pthread_barrier_wait(&barrier);
    return NULL;
}

/* All that is live is shown, as it is, and nothing else is shown as live. */
static int walk(void) {
    pthread_t thread[workers];
    size_t live = 0, missing = 0, wrong = 0, strange = 0, kept_by_caches = 0, large = 0, exact = 0;
    free(malloc(1 << 20)); /* if there is to be a thread of granary's own, it begins with this */
    pthread_barrier_init(&barrier, NULL, workers + 1);
    for (size_t i = 0; i < workers; ++i) {
        pthread_create(&thread[i], NULL, work, (void*)i);
    }
    pthread_barrier_wait(&barrier);
    const struct list first = walked(before);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    const struct list second = walked(after);
    const struct heapwright_granary_figures now = figures();
    for (size_t i = 0; i < workers; ++i) {
        for (size_t k = 0; k < each; ++k) {
            if (kept[i][k] == NULL) {
                continue;
            }
            ++live;
            const struct seen* const shown = find(&second, kept[i][k]);
            if (shown == NULL || shown->cached) {
                ++missing;
                continue;
            }
            wrong += shown->size < sizes[i][k] || shown->size != malloc_usable_size(kept[i][k]);
            exact += shown->size == (k % 7 == 0 ? whole(sizes[i][k]) : sizes[i][k]);
        }
    }
    size_t shown_live = 0;
    for (size_t i = 0; i < second.count; ++i) {
        kept_by_caches += second.objects[i].cached != 0;
        shown_live += second.objects[i].cached == 0;
        large += second.objects[i].cached == 0 && second.objects[i].size_class < 0;
    }
    /* Live objects of other owners existed before the threads began, or are the C library's for
     * them. Those were there at the first look, which came after they were made. */
    for (size_t i = 0; i < second.count; ++i) {
        if (second.objects[i].cached) {
            continue;
        }
        int ours = 0;
        for (size_t w = 0; w < workers && !ours; ++w) {
            for (size_t k = 0; k < each && !ours; ++k) {
                ours = kept[w][k] == second.objects[i].address;
            }
        }
        strange += !ours && find(&first, second.objects[i].address) == NULL;
    }
    pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < workers; ++i) {
        pthread_join(thread[i], NULL);
    }
    printf("live=%zu\nmissing=%zu\nwrong=%zu\nexact=%zu\n", live, missing, wrong, exact);
    printf("strange=%zu\ncached=%zu\nlarge=%zu\n", strange, kept_by_caches, large);
    printf("agrees=%d\n", shown_live == now.live_objects && kept_by_caches == now.cached_objects &&
                              large == now.large_objects);
    return 0;
}

static int use_it(const struct heapwright_granary_object* object, void* argument) {
    size_t* const count = argument;
    free(malloc(object->size % 5000));
    return ++*count == 50 ? 17 : 0;
}

static int walk_and_use(void) {
    size_t count = 0;
    void* objects[100];
    for (int i = 0; i < 100; ++i) {
        objects[i] = malloc(100);
    }
    printf("answer=%d\n", heapwright_granary_walk(use_it, &count));
    printf("shown=%zu\n", count);
    for (int i = 0; i < 100; ++i) {
        free(objects[i]);
    }
    return 0;
}

int main(int count, char** arguments) {
    if (heapwright_granary_walk == NULL) {
        return 2;
    }
    if (count != 2) {
        return 3;
    }
    return strcmp(arguments[1], "walk") == 0 ? walk() : walk_and_use();
}
