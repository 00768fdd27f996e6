/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A host of Lua that allocates the memory of its states in a given way:
 *
 *     lua-host WAY STATES SCRIPT [ARGUMENT]...
 *
 * runs the script in STATES states, one after another. A state requests all of its memory through
 * one function, which gets the old size of an object, so that a pool needs no headers. The ways:
 *
 *     general   malloc, realloc and free, as Lua's own interpreter does
 *     pool      objects up to 256 bytes from lists by size, carved from slabs; the rest from malloc
 *     region    a region for each state: nothing is freed before the state ends, so there is no
 *               garbage collection; the state is not closed, its region is destroyed
 *     reap      a reap for each state, which frees what the collector frees; it is destroyed, too
 *
 * Exit status: 0 on success, 1 with a line if a script fails, 2 if the command line is invalid.
 */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- general ---- */

static void* general(void* unused, void* object, size_t old, size_t size) {
    (void)unused;
    (void)old;
    if (size == 0) {
        free(object);
        return NULL;
    }
    return realloc(object, size);
}

/* ---- pool ---- */

enum { GRAIN = 16, LARGEST = 256, CLASSES = LARGEST / GRAIN, SLAB = 32 * 1024 };

struct slab {
    struct slab* below;
    size_t padding_; /* objects begin on a multiple of 16 */
};

struct pool {
    void* waiting[CLASSES];
    struct slab* slabs;
    char* next;
    char* end;
};

static size_t class_of(size_t size) {
    return (size - 1) / GRAIN;
}

static void* from_pool(struct pool* pool, size_t size) {
    const size_t at = class_of(size);
    const size_t bytes = (at + 1) * GRAIN;
    void* object = pool->waiting[at];
    if (object != NULL) {
        memcpy(&pool->waiting[at], object, sizeof object);
        return object;
    }
    if ((size_t)(pool->end - pool->next) < bytes) {
        struct slab* slab = malloc(SLAB);
        if (slab == NULL)
            return NULL;
        slab->below = pool->slabs;
        pool->slabs = slab;
        pool->next = (char*)(slab + 1);
        pool->end = (char*)slab + SLAB;
    }
    object = pool->next;
    pool->next += bytes;
    return object;
}

static void to_pool(struct pool* pool, void* object, size_t size) {
    void** waiting = &pool->waiting[class_of(size)];
    memcpy(object, waiting, sizeof *waiting);
    *waiting = object;
}

static void drop(struct pool* pool, void* object, size_t old) {
    if (old > LARGEST)
        free(object);
    else if (object != NULL)
        to_pool(pool, object, old);
}

static void* pooled(void* data, void* object, size_t old, size_t size) {
    struct pool* pool = data;
    void* made;
    if (object == NULL)
        old = 0; /* Lua passes the kind of the object then */
    if (size == 0) {
        drop(pool, object, old);
        return NULL;
    }
    if (old > LARGEST && size > LARGEST)
        return realloc(object, size);
    if (old != 0 && old <= LARGEST && size <= LARGEST && class_of(old) == class_of(size))
        return object;
    made = size > LARGEST ? malloc(size) : from_pool(pool, size);
    if (made == NULL || object == NULL)
        return made;
    memcpy(made, object, old < size ? old : size);
    drop(pool, object, old);
    return made;
}

static void end_pool(struct pool* pool) {
    while (pool->slabs != NULL) {
        struct slab* below = pool->slabs->below;
        free(pool->slabs);
        pool->slabs = below;
    }
}

/* ---- region ---- */

static void* in_region(void* region, void* object, size_t old, size_t size) {
    void* made;
    if (size == 0 || (object != NULL && size <= old))
        return size == 0 ? NULL : object;
    made = heapwright_region_alloc(region, size);
    if (made != NULL && object != NULL)
        memcpy(made, object, old);
    return made;
}

/* ---- reap ---- */

static void* in_reap(void* reap, void* object, size_t old, size_t size) {
    (void)old;
    if (size == 0) {
        heapwright_reap_free(reap, object);
        return NULL;
    }
    return object == NULL ? heapwright_reap_malloc(reap, size)
                          : heapwright_reap_realloc(reap, object, size);
}

/* ---- states ---- */

static void arguments(lua_State* state, char** words) {
    lua_newtable(state);
    for (int at = 1; words[at] != NULL; ++at) {
        lua_pushstring(state, words[at]);
        lua_rawseti(state, -2, at);
    }
    lua_setglobal(state, "arg");
}

/* Returns null or the error message, which is valid until the state ends. */
static const char* run(lua_State* state, char** words) {
    luaL_openlibs(state);
    arguments(state, words);
    return luaL_dofile(state, words[0]) == LUA_OK ? NULL : lua_tostring(state, -1);
}

static int failed(const char* why) {
    fprintf(stderr, "lua-host: %s\n", why != NULL ? why : "not enough memory");
    return 1;
}

static int run_closing(lua_Alloc hook, void* data, char** words) {
    lua_State* state = lua_newstate(hook, data);
    const char* why = state == NULL ? "no memory for a state" : run(state, words);
    const int status = why == NULL ? 0 : failed(why);
    if (state != NULL)
        lua_close(state);
    return status;
}

static int run_general(char** words) {
    return run_closing(general, NULL, words);
}

static int run_pool(char** words) {
    struct pool pool = {{NULL}, NULL, NULL, NULL};
    const int status = run_closing(pooled, &pool, words);
    end_pool(&pool);
    return status;
}

static int run_region(char** words) {
    struct heapwright_region* region = heapwright_region_create(NULL);
    lua_State* state = region == NULL ? NULL : lua_newstate(in_region, region);
    const char* why = "no memory for a state";
    int status;
    if (state != NULL) {
        lua_gc(state, LUA_GCSTOP);
        why = run(state, words);
    }
    status = why == NULL ? 0 : failed(why);
    heapwright_region_destroy(region);
    return status;
}

static int run_reap(char** words) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    lua_State* state = reap == NULL ? NULL : lua_newstate(in_reap, reap);
    const char* why = state == NULL ? "no memory for a state" : run(state, words);
    const int status = why == NULL ? 0 : failed(why);
    heapwright_reap_destroy(reap);
    return status;
}

static const struct {
    const char* name;
    int (*run)(char** words);
} ways[] = {
    {"general", run_general}, {"pool", run_pool}, {"region", run_region}, {"reap", run_reap}};

int main(int argc, char** argv) {
    char* end = NULL;
    const unsigned long states = argc > 3 ? strtoul(argv[2], &end, 10) : 0;
    if (argc > 3 && *end == '\0' && argv[2][0] != '-' && states > 0) {
        for (size_t at = 0; at < sizeof ways / sizeof *ways; ++at) {
            int status = 0;
            if (strcmp(ways[at].name, argv[1]) != 0)
                continue;
            for (unsigned long each = 0; each < states && status == 0; ++each)
                status = ways[at].run(argv + 3);
            return status;
        }
    }
    fputs("usage: lua-host general|pool|region|reap STATES SCRIPT [ARGUMENT]...\n", stderr);
    return 2;
}
