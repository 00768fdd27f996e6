/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Programs in C with structures of their own. They are obstacks, arenas, growing buffers, tagged
 * pointers, a sealed table, a timer's signal, and a server that forks for each request. A step
 * takes 2 ms.
 */
#define _GNU_SOURCE
#include <obstack.h>
#include <regex.h>
#include <search.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pace.h"

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

enum { step_us = 2000, steps = 750 };

static KEPT struct obstack history;

PLACE static void record_line(unsigned number) {
    char line[600];
    memset(line, 'l', sizeof line);
    obstack_grow(&history, line, 200 + number % 400);
    obstack_finish(&history);
}

static void obstack_growing(void) {
    obstack_init(&history);
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        record_line(i);
        pace(step_us);
    }
}

PLACE static void parse_words(unsigned number, int lose) {
    struct obstack words;
    obstack_begin(&words, 1000);
    for (unsigned i = 0; i < 5 + number % 20; ++i) {
        memset(obstack_alloc(&words, 60), 'w', 60);
    }
    if (!lose) {
        obstack_free(&words, NULL);
    }
}

static void obstack_lost(void) {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        parse_words(i, i % 4 == 0);
        pace(step_us);
    }
}

static void obstack_freed(void) {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        parse_words(i, 0);
        pace(step_us);
    }
}

PLACE static char* grow_buffer(char* buffer, size_t size) {
    buffer = realloc(buffer, size);
    memset(buffer, 'b', size);
    return buffer;
}

/* Thirty-two connections, each with a buffer that grows to 16 KiB and shrinks to 64 bytes again. */
static void realloc_ladder(void) {
    static KEPT char* buffers[32];
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        for (unsigned each = 0; each < 32; ++each) {
            const unsigned rung = (i + each) % 9;
            buffers[each] = grow_buffer(buffers[each], (size_t)64 << rung);
        }
        pace(step_us);
    }
}

PLACE static void read_all(unsigned number) {
    char* text = NULL;
    for (size_t size = 32; size <= 64u << number % 4; size *= 2) {
        text = grow_buffer(text, size);
    }
    if (number % 3 != 0) {
        free(text);
    }
}

static void realloc_lost(void) {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        read_all(i);
        pace(step_us);
    }
}

/* The kind of an entry is in the lowest bits of the pointer to it. */
static KEPT uintptr_t entries[steps];

PLACE static void intern(unsigned number) {
    entries[number] = (uintptr_t)TAKE(500) | (1 + number % 7);
}

static void tagged_pointers(void) {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        intern(i);
        pace(step_us);
    }
}

static volatile sig_atomic_t ticks;

static void tick(int number) {
    (void)number;
    ++ticks;
}

PLACE static void on_tick(void) {
    TAKE(700);
}

static void signal_driven(void) {
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval every = {{0, 5000}, {0, 5000}};
    setitimer(ITIMER_REAL, &every, NULL);
    for (int seen = 0; seen < 300; ++seen) {
        while (ticks <= seen) {
            pause();
        }
        serve((unsigned)seen);
        on_tick();
    }
}

PLACE static void handle_job(unsigned number) {
    for (unsigned i = 0; i < 40; ++i) {
        serve(i);
        TAKE(400 + number % 10);
    }
}

/* Each request is served by a child, which lives for some milliseconds. */
static void fork_server(void) {
    for (unsigned i = 0; i < 25; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            for (unsigned part = 0; part < 5; ++part) {
                handle_job(i);
                usleep(3000);
            }
            exit(0);
        }
        waitpid(child, NULL, 0);
        serve(i);
        pace(40000);
    }
}

static void sealed_table(void) {
    char** const table =
        mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; i < 5000; ++i) {
        table[i] = TAKE(100);
    }
    mprotect(table, 1 << 16, PROT_READ);
    static KEPT char** sealed;
    sealed = table;
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        pace(step_us);
    }
}

static KEPT void* words_seen;

static int order(const void* a, const void* b) {
    return strcmp(a, b);
}

PLACE static void remember_word(unsigned number) {
    char* const word = TAKE(300);
    snprintf(word, 300, "%u", number * 2654435761u);
    tsearch(word, &words_seen, order);
}

static void search_tree(void) {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        remember_word(i);
        pace(step_us);
    }
}

/* An arena of the program's own: a chain of chunks, the newest first. */
struct Chunk {
    struct Chunk* before;
    char room[4080];
};

PLACE static struct Chunk* new_chunk(struct Chunk* before) {
    struct Chunk* const chunk = (struct Chunk*)TAKE(sizeof(struct Chunk));
    chunk->before = before;
    return chunk;
}

PLACE static void use_arena(unsigned number, int lose) {
    struct Chunk* newest = NULL;
    for (unsigned i = 0; i < 2 + number % 3; ++i) {
        newest = new_chunk(newest);
    }
    while (newest != NULL && !lose) {
        struct Chunk* const before = newest->before;
        free(newest);
        newest = before;
    }
}

static void arena_freed(void) {
    for (unsigned i = 0; i < steps; ++i) {
        use_arena(i, 0);
        pace(step_us);
    }
}

static void arena_lost(void) {
    for (unsigned i = 0; i < steps; ++i) {
        use_arena(i, i % 20 == 0);
        pace(step_us);
    }
}

/* Sizes vary; the oldest go when the sum is above a megabyte. */
static void bounded_by_bytes(void) {
    static KEPT char* kept[4096];
    static size_t sizes[4096];
    size_t sum = 0;
    unsigned oldest = 0;
    for (unsigned i = 0; i < steps * 2; ++i) {
        sizes[i % 4096] = 100 + i * 2654435761u % 9000;
        kept[i % 4096] = TAKE(sizes[i % 4096]);
        sum += sizes[i % 4096];
        for (; sum > 1 << 20; ++oldest) {
            sum -= sizes[oldest % 4096];
            free(kept[oldest % 4096]);
            kept[oldest % 4096] = NULL;
        }
        pace(step_us / 2);
    }
}

PLACE static void match_rule(unsigned number) {
    char rule[40];
    regex_t compiled;
    snprintf(rule, sizeof rule, "a%u.*[b-d]+x", number);
    regcomp(&compiled, rule, 0);
}

static void unfreed_rules(void) {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        match_rule(i);
        pace(step_us);
    }
}

static int poller;

PLACE static void subscribe(void) {
    struct epoll_event event = {.events = EPOLLIN};
    event.data.ptr = TAKE(3000);
    epoll_ctl(poller, EPOLL_CTL_ADD, eventfd(1, 0), &event);
}

static void unsubscribe(void) {
    struct epoll_event events[400];
    const int ready = epoll_wait(poller, events, 400, 0);
    for (int i = 0; i < ready; ++i) {
        free(events[i].data.ptr);
    }
}

/* Only the kernel knows the blocks, as data of an epoll descriptor. They are freed in exit. */
static void epoll_data(void) {
    poller = epoll_create1(0);
    atexit(unsubscribe);
    for (unsigned i = 0; i < 400; ++i) {
        serve(i);
        subscribe();
        pace(2 * step_us);
    }
}

SCENARIOS({"obstack-growing", obstack_growing}, {"obstack-lost", obstack_lost},
          {"obstack-freed", obstack_freed}, {"realloc-ladder", realloc_ladder},
          {"realloc-lost", realloc_lost}, {"tagged-pointers", tagged_pointers},
          {"signal-driven", signal_driven}, {"fork-server", fork_server},
          {"sealed-table", sealed_table}, {"search-tree", search_tree},
          {"arena-freed", arena_freed}, {"arena-lost", arena_lost},
          {"bounded-by-bytes", bounded_by_bytes}, {"unfreed-rules", unfreed_rules},
          {"epoll-data", epoll_data})
