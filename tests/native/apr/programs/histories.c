/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Random histories of pools inside pools. Every effect of a cleanup is printed. So two libraries
 * that differ in what runs, in which order, or in the contents of an object print different lines.
 * */
#include "common.h"

enum { most = 40, steps = 4000 };

struct note {
    unsigned id;
    unsigned bytes;
    unsigned char* object;
};

static struct live {
    apr_pool_t* pool;
    struct note* last; /* registered and not yet run, or null */
    apr_status_t (*cleanup)(void*);
} pools[most];

static unsigned random_state;
static unsigned next_id;
static unsigned long digest;

static unsigned draw(unsigned below) {
    random_state = random_state * 1103515245u + 12345u;
    return (random_state >> 8) % below;
}

static struct note* note_in(apr_pool_t* pool) {
    struct note* note = apr_pcalloc(pool, sizeof *note);
    MUST(note->id == 0 && note->object == NULL);
    note->id = ++next_id;
    note->bytes = draw(10) == 0 ? draw(20000) : draw(200);
    note->object = apr_palloc(pool, note->bytes);
    memset(note->object, (int)(note->id % 251), note->bytes);
    return note;
}

static void tell(const char* what, const struct note* note) {
    for (unsigned i = 0; i < note->bytes; ++i) {
        MUST(note->object[i] == note->id % 251);
    }
    digest = digest * 31 + note->id + (unsigned char)what[0];
    if (digest % 16 == 0) {
        printf("%s %u\n", what, note->id);
    }
}

static apr_status_t plain(void* data) {
    tell("plain", data);
    return APR_SUCCESS;
}

static apr_status_t first(void* data) {
    tell("first", data);
    return APR_SUCCESS;
}

/* Makes a pool and ends it, while its own one ends. */
static apr_status_t busy(void* data) {
    tell("busy", data);
    apr_pool_t* pool = NULL;
    MUST(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    apr_pool_cleanup_register(pool, note_in(pool), plain, apr_pool_cleanup_null);
    apr_pool_destroy(pool);
    return APR_SUCCESS;
}

/* Registered first, so it comes last. */
static apr_status_t gone(void* data) {
    struct live* live = data;
    live->pool = NULL;
    live->last = NULL;
    return APR_SUCCESS;
}

static void holds(struct live* live, apr_pool_t* pool) {
    live->pool = pool;
    live->last = NULL;
    apr_pool_cleanup_register(pool, live, gone, apr_pool_cleanup_null);
}

static void add(struct live* live) {
    static apr_status_t (*const kinds[])(void*) = {plain, plain, busy};
    live->last = note_in(live->pool);
    live->cleanup = kinds[draw(3)];
    if (draw(5) == 0) {
        live->cleanup = first;
        apr_pool_pre_cleanup_register(live->pool, live->last, first);
    } else {
        apr_pool_cleanup_register(live->pool, live->last, live->cleanup, apr_pool_cleanup_null);
    }
}

static void step(void) {
    struct live* live = &pools[draw(most)];
    if (live->pool == NULL) {
        holds(live, pool_in(pools[draw(most)].pool)); /* of the first of all if there is none */
        return;
    }
    const unsigned kind = draw(40);
    if (kind < 30) {
        add(live);
    } else if (kind < 33 && live->last != NULL) {
        apr_pool_cleanup_kill(live->pool, live->last, live->cleanup);
        live->last = NULL;
    } else if (kind < 36 && live->last != NULL) {
        struct note* note = live->last;
        live->last = NULL;
        apr_pool_cleanup_run(live->pool, note, live->cleanup);
    } else if (kind == 36 || kind == 37) {
        apr_pool_t* pool = live->pool;
        apr_pool_clear(pool);
        MUST(live->pool == NULL);
        holds(live, pool);
    } else if (kind == 38) {
        apr_pool_destroy(live->pool);
        MUST(live->pool == NULL);
    }
}

int main(int count, char** words) {
    MUST(count == 2);
    begin();
    random_state = (unsigned)strtoul(words[1], NULL, 10);
    for (int i = 0; i < steps; ++i) {
        step();
    }
    printf("%u notes, %lx\n", next_id, digest);
    return 0; /* what there is ends with the program, and is looked at once more */
}
