/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The order in which cleanups run, and what a cleanup may do. */
#include "common.h"

#include <sys/wait.h>
#include <unistd.h>

static apr_pool_t* top;

static apr_status_t allocates(void* data) {
    apr_pool_t* pool = data;
    char* text = NULL;
    for (int i = 0; i < 2000; ++i) {
        text = apr_psprintf(pool, "from the dying pool %d", i);
        memset(apr_palloc(pool, 100), i, 100);
    }
    return say(text);
}

static apr_status_t registers(void* data) {
    apr_pool_cleanup_register(data, "registered by a cleanup", say, apr_pool_cleanup_null);
    apr_pool_cleanup_register(data, "and another, which comes first", say, apr_pool_cleanup_null);
    return say("registers");
}

static apr_status_t destroys(void* data) {
    say("destroys a sibling");
    apr_pool_destroy(data);
    return say("has destroyed it");
}

static apr_status_t clears_itself(void* data) {
    say("clears its own pool");
    apr_pool_clear(data);
    return say("has cleared it");
}

static apr_status_t uses_a_subpool(void* data) {
    apr_pool_t* inner = pool_in(data);
    apr_pool_cleanup_register(inner, "of a pool made by a cleanup", say, apr_pool_cleanup_null);
    apr_pool_destroy(inner);
    return say("used a pool of its own");
}

static void with(apr_pool_t* pool, const char* text) {
    apr_pool_cleanup_register(pool, text, say, say_child);
}

static void order(void) {
    apr_pool_t* pool = pool_in(top);
    with(pool, "pool: registered first");
    apr_pool_t* first = pool_in(pool);
    with(first, "first: one");
    with(first, "first: two");
    apr_pool_t* second = pool_in(pool);
    apr_pool_t* inner = pool_in(second);
    with(second, "second");
    with(inner, "inner");
    apr_pool_pre_cleanup_register(inner, "inner: before all others", say);
    apr_pool_pre_cleanup_register(pool, "pool: before the pools inside", say);
    apr_pool_pre_cleanup_register(pool, "pool: and before that", say);
    with(pool, "pool: registered last");
    puts("-- clear");
    apr_pool_clear(pool);
    puts("-- clear once more");
    apr_pool_clear(pool);
    with(pool, "pool: after the clear");
    with(pool_in(pool), "new one inside");
    puts("-- destroy");
    apr_pool_destroy(pool);
}

static void taken_back(void) {
    apr_pool_t* pool = pool_in(top);
    const char* one = "one";
    const char* two = "two";
    with(pool, one);
    with(pool, two);
    with(pool, one);
    apr_pool_pre_cleanup_register(pool, two, say);
    apr_pool_cleanup_register(pool, one, say_child, say);
    puts("-- kill");
    apr_pool_cleanup_kill(pool, one, say); /* the newer of two */
    apr_pool_cleanup_kill(pool, two, say); /* of both kinds */
    apr_pool_cleanup_kill(pool, two, say); /* there is none */
    apr_pool_cleanup_kill(NULL, two, say);
    puts("-- run");
    printf("%d\n", (int)apr_pool_cleanup_run(pool, (void*)one, say_child));
    puts("-- clear");
    apr_pool_clear(pool);
    for (int i = 0; i < 10000; ++i) { /* records are used again */
        with(pool, one);
        apr_pool_cleanup_kill(pool, one, say);
    }
    puts("-- destroy");
    apr_pool_destroy(pool);
}

static void busy_ones(void) {
    apr_pool_t* pool = pool_in(top);
    apr_pool_t* elder = pool_in(pool);
    apr_pool_t* younger = pool_in(pool);
    with(elder, "elder");
    apr_pool_cleanup_register(younger, elder, destroys, apr_pool_cleanup_null);
    apr_pool_cleanup_register(pool, pool, allocates, apr_pool_cleanup_null);
    apr_pool_cleanup_register(pool, pool, uses_a_subpool, apr_pool_cleanup_null);
    with(pool, "between");
    apr_pool_cleanup_register(pool, pool, registers, apr_pool_cleanup_null);
    puts("-- destroy");
    apr_pool_destroy(pool);
    pool = pool_in(top);
    with(pool, "left of the pool that clears itself");
    apr_pool_cleanup_register(pool, pool, clears_itself, apr_pool_cleanup_null);
    puts("-- clear");
    apr_pool_clear(pool);
    apr_palloc(pool, 10000);
    apr_pool_destroy(pool);
}

static void in_a_child(void) {
    apr_pool_t* pool = pool_in(top);
    apr_pool_t* inner = pool_in(pool);
    const char* text = "with another function";
    with(pool, "outer");
    with(pool_in(inner), "innermost");
    with(inner, "inner");
    with(pool_in(pool), "younger");
    apr_pool_cleanup_register(pool, text, say, apr_pool_cleanup_null);
    apr_pool_child_cleanup_set(pool, text, say, say_child);
    apr_pool_child_cleanup_set(pool, "none has this", say, say_child);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        puts("-- for exec");
        apr_pool_cleanup_for_exec();
        puts("-- again");
        apr_pool_cleanup_for_exec();
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    MUST(waitpid(child, &status, 0) == child && status == 0);
    puts("-- destroy");
    apr_pool_destroy(pool);
}

int main(void) {
    begin();
    top = pool_in(NULL);
    order();
    taken_back();
    busy_ones();
    in_a_child();
    with(top, "top, at the end of the program");
    return 0;
}
