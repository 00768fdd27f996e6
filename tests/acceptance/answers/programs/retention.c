/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Programs that free most of their memory, which the allocator keeps. After it they go on with
 * little for a second.
 */
#include <pthread.h>

#include "pace.h"

enum { most = 48 << 10, threads = 8 };

static KEPT char* blocks[most];

static void fill(size_t count, size_t size) {
    for (size_t i = 0; i < count; ++i) {
        blocks[i] = TAKE(size);
    }
}

/* Frees all of `count` but each block whose number is a multiple of `stays`; 0: all. */
static void empty(size_t count, size_t stays) {
    for (size_t i = 0; i < count; ++i) {
        if (stays == 0 || i % stays != 0) {
            free(blocks[i]);
            blocks[i] = NULL;
        }
    }
}

static void go_on(void) {
    for (unsigned i = 0; i < 500; ++i) {
        serve(i);
        pace(2000);
    }
}

/* One block in sixteen survives, so each page of 4 KiB or each fourth is pinned. */
static void holes(void) {
    fill(32 << 10, 1008);
    empty(32 << 10, 16);
    go_on();
}

/* One block in `stays` survives. No request of a kilobyte or more follows. */
static void thin_out(size_t count, size_t size, size_t stays) {
    fill(count, size);
    empty(count, stays);
    for (unsigned i = 0; i < 500; ++i) {
        free(TAKE(200));
        pace(2000);
    }
}

/* Each page keeps a live block. */
static void pinned_pages(void) {
    thin_out(most, 464, 7);
}

/* With jemalloc three pages in four have no live block, but each slab of five pages has one. */
static void pinned_slabs(void) {
    thin_out(32 << 10, 1264, 12);
}

/* Blocks that live and free ones between them, in runs of half a mebibyte. */
static void free_runs(void) {
    fill(32 << 10, 1008);
    for (size_t i = 0; i < 32 << 10; ++i) {
        if (i % 2048 >= 256) {
            free(blocks[i]);
            blocks[i] = NULL;
        }
    }
    go_on();
}

/* Small freed blocks are not merged. The first one that was taken is freed first. */
static void fastbins(void) {
    enum { count = 400000 };
    char** table = (char**)calloc(count, sizeof *table);
    for (size_t i = 0; i < count; ++i) {
        table[i] = TAKE(40);
    }
    for (size_t i = 0; i < count; ++i) {
        free(table[i]);
    }
    for (unsigned i = 0; i < 500; ++i) {
        free(TAKE(200));
        pace(2000);
    }
    free(table);
}

/* The last block that was taken is freed first, and stays in the cache of the thread. */
static void tcache(void) {
    enum { count = 8 << 10 };
    fill(count, 808);
    for (size_t i = count; i-- > 0;) {
        free(blocks[i]);
        blocks[i] = NULL;
    }
    for (unsigned i = 0; i < 500; ++i) {
        free(TAKE(200));
        pace(2000);
    }
}

/* A block of 16 MiB, freed, has raised the threshold of glibc; what is then freed at the top stays.
 */
static void top(void) {
    free(TAKE(16 << 20));
    fill(12 << 10, 1008);
    empty(12 << 10, 0);
    go_on();
}

/* One survivor at the end of the heap keeps all below it. */
static void pinned_top(void) {
    fill(32 << 10, 1008);
    char* pin = TAKE(2000);
    empty(32 << 10, 0);
    go_on();
    free(pin);
}

/* Blocks of 200 KB that came after a larger one was freed lie in the heap, each between two that
 * stay. */
static void large_blocks(void) {
    free(TAKE(1 << 20));
    for (unsigned i = 0; i < 160; ++i) {
        blocks[2 * i] = TAKE(200000);
        blocks[2 * i + 1] = TAKE(1000);
    }
    for (unsigned i = 0; i < 160; ++i) {
        free(blocks[2 * i]);
        blocks[2 * i] = NULL;
    }
    go_on();
}

static pthread_barrier_t barrier;

static void* fill_own_arena(void* number) {
    enum { part = 4 << 10 };
    const size_t mine = (size_t)(char**)number;
    free(TAKE(100)); /* now the thread has an arena */
    for (size_t turn = 0; turn < threads; ++turn) {
        pthread_barrier_wait(&barrier);
        if (turn == mine) {
            for (size_t i = mine * part; i < (mine + 1) * part; ++i) {
                blocks[i] = TAKE(1008);
            }
            for (size_t i = mine * part; i + 1 < (mine + 1) * part; ++i) {
                free(blocks[i]);
                blocks[i] = NULL;
            }
        }
    }
    pthread_barrier_wait(&barrier);
    pace(1000000);
    return NULL;
}

/* Eight threads, one after the other, fill an arena each, and leave a block at its end. */
static void arenas(void) {
    pthread_t all[threads];
    pthread_barrier_init(&barrier, NULL, threads);
    for (size_t i = 0; i < threads; ++i) {
        pthread_create(&all[i], NULL, fill_own_arena, (void*)i);
    }
    for (size_t i = 0; i < threads; ++i) {
        pthread_join(all[i], NULL);
    }
}

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void* burst(void* number) {
    enum { part = 3 << 10 };
    char** const mine = blocks + (size_t)(char**)number * part;
    char** volatile table = NULL;
    pthread_mutex_lock(&turn);
    for (size_t i = 0; i < part; ++i) {
        if (i == part / 2) {
            table = (char**)TAKE(16 << 10);
        }
        mine[i] = TAKE(1008);
    }
    for (size_t i = 0; i < part; ++i) {
        free(mine[i]);
        mine[i] = NULL;
    }
    pthread_mutex_unlock(&turn);
    pace(1000000);
    free(table);
    return NULL;
}

/* Threads fill an arena each, one after the other. In each, a block in the middle stays. glibc
 * returns the half above it without a setting, because its threshold never rose. */
static void bursts(void) {
    pthread_t all[threads];
    for (size_t i = 0; i < threads; ++i) {
        pthread_create(&all[i], NULL, burst, (void*)i);
    }
    for (size_t i = 0; i < threads; ++i) {
        pthread_join(all[i], NULL);
    }
}

/* Nine of ten objects are freed at random; the next phase asks for another size, which does not
 * fit. */
static void phases(void) {
    enum { objects = 4 << 10 };
    static const size_t sizes[] = {400, 624, 848, 1072, 1296, 1520};
    unsigned seed = 7;
    size_t at = 0;
    for (unsigned phase = 0; phase < 6; ++phase) {
        const size_t first = at;
        for (size_t i = 0; i < objects; ++i) {
            blocks[at++] = TAKE(sizes[phase]);
        }
        for (size_t i = first; i < at; ++i) {
            seed = seed * 1103515245U + 12345U;
            if ((seed >> 16) % 10 != 0) {
                free(blocks[i]);
                blocks[i] = NULL;
            }
        }
    }
    go_on();
}

static PLACE void forget(size_t size) {
    TAKE(size);
}

/* Holes, and a leak of 1 MB a second besides. */
static void holes_and_leak(void) {
    fill(32 << 10, 1008);
    empty(32 << 10, 16);
    for (unsigned i = 0; i < 1000; ++i) {
        serve(i);
        forget(2000);
        pace(2000);
    }
}

SCENARIOS({"holes", holes}, {"top", top}, {"pinned-top", pinned_top},
          {"large-blocks", large_blocks}, {"arenas", arenas}, {"phases", phases},
          {"bursts", bursts}, {"pinned-pages", pinned_pages}, {"pinned-slabs", pinned_slabs},
          {"free-runs", free_runs}, {"fastbins", fastbins}, {"tcache", tcache},
          {"holes-and-leak", holes_and_leak})
