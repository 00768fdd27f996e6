/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Budgets of memory around a piece of code, for tests in C and C++:
 *
 *     HEAPWRIGHT_LIMIT_ALLOCATIONS(0) {
 *         process(block);                    no allocation on this thread
 *     }
 *     HEAPWRIGHT_LIMIT_PEAK(1 << 20) {
 *         parse(text);                       at most 1 MiB more live memory than before
 *     }
 *
 * An exceeded budget prints one line with the file, the line and the figure, and ends the program
 * by abort(). Define HEAPWRIGHT_LIMIT_EXCEEDED(message) before this header to do something else.
 * Leave the block at its end: a `break`, `goto` or `return` inside omits the check. Blocks may be
 * nested. limit_googletest.h has the same for GoogleTest, without this restriction.
 *
 * The counts come from a library that is loaded before the program: `heapwright limit -- ./tests`.
 * Without it nothing is checked, and the first block prints one line about that.
 * `heapwright_limit_counting()` reports whether budgets are checked.
 *
 * Allocations and bytes are those of the calling thread. Live bytes are those of the process: do
 * not bound them while other threads work. All sizes are requested sizes. The macros need the GNU C
 * library or musl, and a dynamically linked program.
 */
#ifndef HEAPWRIGHT_C_LIMIT_H
#define HEAPWRIGHT_C_LIMIT_H

/* The warnings of a program in C++ are not for code that is C, too. */
#ifdef __GNUC__
#pragma GCC system_header
#endif

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct heapwright_limit_figures {
    uint64_t allocations; /* of the process, from its start */
    uint64_t bytes;       /* requested by these */
    uint64_t frees;
    uint64_t thread_allocations; /* of the calling thread, from some moment before */
    uint64_t thread_bytes;
    int64_t live; /* requested bytes that are live */
    int64_t peak; /* the most of these since the start, or since the peak was restarted */
};

/* Only the library that counts has these. Others look them up by name. */
void heapwright_limit_read(struct heapwright_limit_figures* figures);
/* Sets the peak to the live bytes. Returns the peak before. */
int64_t heapwright_limit_restart_peak(void);
/* Raises the peak to an earlier one. */
void heapwright_limit_restore_peak(int64_t peak);

/* One block of code with a budget. */
struct heapwright_limit_scope {
    const char* file;
    const char* what; /* the budget: "allocations", "bytes", "peak", "kept" */
    int line;
    int open; /* the block is still to be run */
    int64_t limit;
    int64_t peak_before;
    struct heapwright_limit_figures before;
};

/* A function of the library that counts, by name; null if it is not loaded. */
#define HEAPWRIGHT_LIMIT_FIND(function, name)                                                      \
    do {                                                                                           \
        void* const heapwright_found = dlsym(RTLD_DEFAULT, name);                                  \
        memcpy(&(function), &heapwright_found, sizeof(function));                                  \
    } while (0)

/* Whether the counts are there, so that budgets are checked. */
static inline int heapwright_limit_counting(void) {
    return dlsym(RTLD_DEFAULT, "heapwright_limit_read") != NULL;
}

static inline struct heapwright_limit_scope
heapwright_limit_begin(const char* file, int line, const char* what, int64_t limit) {
    static int warned;
    void (*read)(struct heapwright_limit_figures*) = NULL;
    int64_t (*restart)(void) = NULL;
    struct heapwright_limit_scope scope;
    memset(&scope, 0, sizeof scope);
    scope.file = file;
    scope.line = line;
    scope.what = what;
    scope.limit = limit;
    scope.open = 1;
    HEAPWRIGHT_LIMIT_FIND(read, "heapwright_limit_read");
    HEAPWRIGHT_LIMIT_FIND(restart, "heapwright_limit_restart_peak");
    if (read == NULL || restart == NULL) {
        if (!warned) {
            warned = 1;
            fprintf(stderr,
                    "heapwright: %s:%d: this budget and others are not checked: start the program "
                    "with `heapwright limit -- PROGRAM`\n",
                    file, line);
        }
        return scope;
    }
    scope.peak_before = restart();
    read(&scope.before);
    return scope;
}

/* The figure of a scope until now. Returns -1 if nothing is counted. */
static inline int64_t heapwright_limit_used(const struct heapwright_limit_scope* scope) {
    struct heapwright_limit_figures now;
    void (*read)(struct heapwright_limit_figures*) = NULL;
    HEAPWRIGHT_LIMIT_FIND(read, "heapwright_limit_read");
    if (read == NULL) {
        return -1;
    }
    read(&now);
    switch (scope->what[0]) {
    case 'a':
        return (int64_t)(now.thread_allocations - scope->before.thread_allocations);
    case 'b':
        return (int64_t)(now.thread_bytes - scope->before.thread_bytes);
    case 'p':
        return now.peak - scope->before.live;
    default:
        return now.live > scope->before.live ? now.live - scope->before.live : 0;
    }
}

/* Ends a scope. Writes the fault to `message`, and returns whether there is one. */
static inline int heapwright_limit_end(struct heapwright_limit_scope* scope, char* message,
                                       size_t bytes) {
    const int64_t used = heapwright_limit_used(scope);
    void (*restore)(int64_t) = NULL;
    scope->open = 0;
    HEAPWRIGHT_LIMIT_FIND(restore, "heapwright_limit_restore_peak");
    if (used < 0 || restore == NULL) {
        return 0;
    }
    restore(scope->peak_before);
    if (used <= scope->limit) {
        return 0;
    }
    snprintf(message, bytes, "%s: %lld, at most %lld", scope->what, (long long)used,
             (long long)scope->limit);
    return 1;
}

#ifndef HEAPWRIGHT_LIMIT_EXCEEDED
#define HEAPWRIGHT_LIMIT_EXCEEDED(message) (fprintf(stderr, "%s\n", (message)), abort())
#endif

static inline void heapwright_limit_check(struct heapwright_limit_scope* scope) {
    char fault[128];
    char message[512];
    if (heapwright_limit_end(scope, fault, sizeof fault)) {
        snprintf(message, sizeof message, "heapwright: %s:%d: %s", scope->file, scope->line, fault);
        HEAPWRIGHT_LIMIT_EXCEEDED(message);
    }
}

#define HEAPWRIGHT_LIMIT_SCOPE(what, limit)                                                        \
    for (struct heapwright_limit_scope heapwright_scope =                                          \
             heapwright_limit_begin(__FILE__, __LINE__, what, (int64_t)(limit));                   \
         heapwright_scope.open; heapwright_limit_check(&heapwright_scope))

/* At most `limit` allocations on this thread: calls that return a block. */
#define HEAPWRIGHT_LIMIT_ALLOCATIONS(limit) HEAPWRIGHT_LIMIT_SCOPE("allocations", limit)
/* At most `limit` bytes requested by these. */
#define HEAPWRIGHT_LIMIT_BYTES(limit) HEAPWRIGHT_LIMIT_SCOPE("bytes", limit)
/* At no moment more than `limit` live bytes beyond those at the start of the block. */
#define HEAPWRIGHT_LIMIT_PEAK(limit) HEAPWRIGHT_LIMIT_SCOPE("peak", limit)
/* At the end of the block at most `limit` live bytes more than at its start. */
#define HEAPWRIGHT_LIMIT_KEPT(limit) HEAPWRIGHT_LIMIT_SCOPE("kept", limit)

#ifdef __cplusplus
}
#endif

#endif
