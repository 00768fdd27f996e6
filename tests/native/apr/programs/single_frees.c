/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * apr_pfree: Random histories of objects that keep their contents, with pools inside, cleanups and
 * texts between. Memory stays what it was. */
#include "common.h"

#include <heapwright/c/apr.h>

#include <malloc.h>

enum { slots = 300 };

static struct {
    unsigned char* object;
    apr_size_t size;
} held[slots];

static unsigned random_state = 12345;

static unsigned random_number(void) {
    random_state = random_state * 1103515245u + 12345u;
    return random_state >> 8;
}

static void check(int slot) {
    for (apr_size_t i = 0; i < held[slot].size; ++i) {
        MUST(held[slot].object[i] == (unsigned char)(slot + 1));
    }
}

static void step(apr_pool_t* pool) {
    const int slot = (int)(random_number() % slots);
    if (held[slot].object != NULL) {
        check(slot);
        apr_pfree(pool, held[slot].object);
        held[slot].object = NULL;
        return;
    }
    const unsigned kind = random_number() % 100;
    const apr_size_t size = kind < 80 ? kind * 3 : kind < 98 ? kind * 40 : kind * 400;
    held[slot].size = size;
    held[slot].object = kind % 10 == 3 ? (unsigned char*)apr_psprintf(pool, "%*d", (int)size, 1)
                                       : apr_palloc(pool, size);
    MUST(held[slot].object != NULL);
    memset(held[slot].object, slot + 1, size);
}

static void history(apr_pool_t* pool) {
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 20000; ++i) {
            step(pool);
            if (i % 1000 == 7) {
                apr_pool_cleanup_register(pool, pool, apr_pool_cleanup_null, apr_pool_cleanup_null);
                apr_palloc(pool_in(pool), 100);
            }
        }
        for (int slot = 0; slot < slots; ++slot) {
            if (held[slot].object != NULL) {
                check(slot);
            }
            held[slot].object = NULL;
        }
        apr_pool_clear(pool);
    }
}

static size_t in_use(void) {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* Grows an object again and again; what it leaves behind serves the others. */
static void memory_comes_back(apr_pool_t* pool) {
    char* number = apr_pstrdup(pool, "1");
    const size_t before = in_use();
    for (int i = 0; i < 60000; ++i) {
        char* next = apr_psprintf(pool, "%d%s", i % 10, i % 500 == 0 ? "" : number);
        apr_pfree(pool, number);
        number = next;
    }
    printf("%zu digits, memory stays %d\n", strlen(number), in_use() - before < 100000);
}

int main(void) {
    begin();
    apr_pool_t* pool = pool_in(NULL);
    apr_pfree(pool, NULL);
    history(pool);
    memory_comes_back(pool);
    apr_pool_destroy(pool);
    return 0;
}
