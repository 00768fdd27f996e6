/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A typical program for APR's pools. It answers requests, each in a pool of its own below that of
 * its connection, with sub-pools for parts of the answer.
 *
 *     apr-host REQUESTS
 *
 * A connection has eight requests. A request parses its line and headers into a table, looks rows
 * up in a hash of the configuration, and sorts them in an array. It formats a page piece by piece
 * in sub-pools, one cleared for each row, and joins the pieces. The pools' memory comes from APR,
 * or from a library preloaded in its place.
 *
 * Prints a sum over the pages, which depends on REQUESTS only. Exit status: 1 if APR reports an
 * error, 2 if the command line is invalid.
 */
#include <apr_general.h>
#include <apr_hash.h>
#include <apr_pools.h>
#include <apr_strings.h>
#include <apr_tables.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 500, SHOWN = 24, PER_CONNECTION = 8 };

struct row {
    const char* key;
    const char* text;
    unsigned rank;
};

struct server {
    apr_hash_t* rows;
    const char** keys;
    apr_pool_t* pool;
    unsigned long long random;
    unsigned long long sum;
};

static unsigned draw(struct server* server, unsigned below) {
    server->random = server->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((server->random >> 33) % below);
}

static void configure(struct server* server) {
    server->rows = apr_hash_make(server->pool);
    server->keys = apr_palloc(server->pool, ROWS * sizeof *server->keys);
    for (unsigned at = 0; at < ROWS; ++at) {
        struct row* row = apr_pcalloc(server->pool, sizeof *row);
        row->key = apr_psprintf(server->pool, "item/%u", at);
        row->text = apr_psprintf(server->pool, "what is known of item %u: %u", at, at * 7 % 1000);
        row->rank = at * 31 % ROWS;
        server->keys[at] = row->key;
        apr_hash_set(server->rows, row->key, APR_HASH_KEY_STRING, row);
    }
}

static apr_table_t* headers(struct server* server, apr_pool_t* pool) {
    static const char* const names[] = {"Host",   "User-Agent", "Accept",     "Accept-Language",
                                        "Cookie", "Referer",    "Connection", "Cache-Control"};
    apr_table_t* table = apr_table_make(pool, 8);
    for (size_t at = 0; at < sizeof names / sizeof *names; ++at) {
        const char* line = apr_psprintf(pool, "%s: value-%u; q=0.%u", names[at],
                                        draw(server, 100000), draw(server, 10));
        char* colon = strchr(apr_pstrdup(pool, line), ':');
        apr_table_set(table, names[at], colon + 2);
        if (draw(server, 4) == 0)
            apr_table_merge(table, names[at], "more");
    }
    return table;
}

static int by_rank(const void* one, const void* other) {
    const struct row* a = *(const struct row* const*)one;
    const struct row* b = *(const struct row* const*)other;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static apr_array_header_t* found(struct server* server, apr_pool_t* pool) {
    apr_array_header_t* rows = apr_array_make(pool, 4, sizeof(struct row*));
    for (unsigned at = 0; at < SHOWN; ++at) {
        const char* key = apr_pstrdup(pool, server->keys[draw(server, ROWS)]);
        APR_ARRAY_PUSH(rows, const struct row*) =
            apr_hash_get(server->rows, key, APR_HASH_KEY_STRING);
    }
    qsort(rows->elts, (size_t)rows->nelts, sizeof(struct row*), by_rank);
    return rows;
}

static const char* escaped(apr_pool_t* pool, const char* text) {
    char* made = apr_palloc(pool, 6 * strlen(text) + 1);
    char* at = made;
    for (; *text != '\0'; ++text)
        at = *text == ':' ? apr_cpystrn(at, "&#58;", 6) : (*at = *text, at + 1);
    *at = '\0';
    return made;
}

/* One line of the page, in `pool`, built in a scratch pool that is cleared for it. */
static char* line_of(const struct row* row, apr_pool_t* pool, apr_pool_t* scratch) {
    apr_pool_clear(scratch);
    return apr_pstrcat(
        pool, "<tr><td>", escaped(scratch, row->key), "</td><td>",
        escaped(scratch, apr_psprintf(scratch, "%s (rank %u)", row->text, row->rank)),
        "</td></tr>\n", NULL);
}

static apr_status_t closed(void* server) {
    ((struct server*)server)->sum += 1;
    return APR_SUCCESS;
}

static int answer(struct server* server, apr_pool_t* connection) {
    apr_pool_t *request, *scratch;
    apr_array_header_t *rows, *lines;
    const apr_table_t* table;
    char* page;
    if (apr_pool_create(&request, connection) != APR_SUCCESS ||
        apr_pool_create(&scratch, request) != APR_SUCCESS)
        return 1;
    apr_pool_cleanup_register(request, server, closed, apr_pool_cleanup_null);
    table = headers(server, request);
    rows = found(server, request);
    lines = apr_array_make(request, 8, sizeof(char*));
    for (int at = 0; at < rows->nelts; ++at)
        APR_ARRAY_PUSH(lines, char*) =
            line_of(APR_ARRAY_IDX(rows, at, const struct row*), request, scratch);
    page = apr_array_pstrcat(request, lines, '\n');
    page = apr_psprintf(request, "<table title=\"%s\">\n%s</table>\n",
                        apr_table_get(table, "Cookie"), page);
    server->sum = server->sum * 31 + strlen(page) + (unsigned char)page[strlen(page) / 2];
    apr_pool_destroy(request);
    return 0;
}

static int serve(struct server* server, unsigned long requests) {
    int status = 0;
    for (unsigned long done = 0; done < requests && status == 0; done += PER_CONNECTION) {
        apr_pool_t* connection;
        if (apr_pool_create(&connection, server->pool) != APR_SUCCESS)
            return 1;
        for (unsigned each = 0; each < PER_CONNECTION && status == 0; ++each)
            status = answer(server, connection);
        apr_pool_destroy(connection);
    }
    return status;
}

int main(int argc, char** argv) {
    struct server server = {NULL, NULL, NULL, 2002, 0};
    char* rest = NULL;
    const unsigned long requests = argc == 2 ? strtoul(argv[1], &rest, 10) : 0;
    int status = 1;
    if (requests == 0 || *rest != '\0' || argv[1][0] == '-') {
        fputs("usage: apr-host REQUESTS\n", stderr);
        return 2;
    }
    if (apr_initialize() == APR_SUCCESS && apr_pool_create(&server.pool, NULL) == APR_SUCCESS) {
        configure(&server);
        status = serve(&server, requests);
        apr_pool_destroy(server.pool);
        apr_terminate();
    }
    if (status != 0)
        fputs("apr-host: no memory for a pool\n", stderr);
    else
        printf("%llu\n", server.sum);
    return status;
}
