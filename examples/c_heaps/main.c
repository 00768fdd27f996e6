/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A cache for several tenants, each with a heap of its own. Two threads fill the caches. A tenant
 * that has used its quota gets no more memory, and the others do not notice. The end of a
 * tenant costs a few system calls for any number of entries. */
#include <heapwright/c/heap.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { tenants = 3, entries = 1000 };

struct entry {
    struct entry* next;
    char text[];
};

struct tenant {
    struct heapwright_heap* heap;
    struct entry* first;
    pthread_mutex_t lock; /* of the list; the heap needs none */
};

static struct tenant cache[tenants];

static int store(struct tenant* tenant, int number, size_t length) {
    struct entry* const entry = heapwright_heap_malloc(tenant->heap, sizeof *entry + length);
    if (entry == NULL) {
        return 0; /* over its quota */
    }
    memset(entry->text, 'a' + number % 26, length);
    pthread_mutex_lock(&tenant->lock);
    entry->next = tenant->first;
    tenant->first = entry;
    pthread_mutex_unlock(&tenant->lock);
    return 1;
}

static void* fill(void* unused) {
    for (int i = 0; i < entries; ++i) {
        for (int t = 0; t < tenants; ++t) {
            store(&cache[t], i, t == 1 ? 3000 : 30);
        }
    }
    return unused;
}

static int report(struct heapwright_heap* heap, void* unused) {
    struct heapwright_heap_figures now;
    (void)unused;
    heapwright_heap_statistics(heap, &now, sizeof now);
    printf("%s: %d entries, %d KiB of %d, %s\n", heapwright_heap_name(heap), (int)now.live_objects,
           (int)(now.live_bytes / 1024), (int)(now.quota_bytes / 1024),
           now.refusals == 0 ? "nothing refused" : "some refused");
    return 0;
}

int main(void) {
    const char* const names[tenants] = {"anna", "bert", "carl"};
    pthread_t threads[2];
    for (int t = 0; t < tenants; ++t) {
        cache[t].heap = heapwright_heap_create(names[t], 1024 * 1024);
        pthread_mutex_init(&cache[t].lock, NULL);
        if (cache[t].heap == NULL) {
            return 1;
        }
    }
    for (int i = 0; i < 2; ++i) {
        pthread_create(&threads[i], NULL, fill, NULL);
    }
    for (int i = 0; i < 2; ++i) {
        pthread_join(threads[i], NULL);
    }
    heapwright_heap_each(report, NULL);
    heapwright_heap_destroy(cache[1].heap); /* with all its entries */
    printf("without bert\n");
    heapwright_heap_each(report, NULL);
    heapwright_heap_destroy(cache[0].heap);
    heapwright_heap_destroy(cache[2].heap);
    return 0;
}
