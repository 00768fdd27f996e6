/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Programs that lose memory, alone or beside other load. A step takes 2 ms.
 */
#include "pace.h"

enum { step_us = 2000, steps = 750 };

static PLACE void forget(size_t size) {
    TAKE(size);
}

static void every_request(void) {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        forget(1000);
        pace(step_us);
    }
}

static PLACE void log_error(unsigned number) {
    char* text = TAKE(4000);
    if (number % 20 != 0) {
        free(text);
    }
}

static void every_twentieth(void) {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        log_error(i);
        pace(step_us);
    }
}

static PLACE int parse_header(unsigned number) {
    char* name = TAKE(120);
    char* value = TAKE(500);
    if (number % 9 == 4) {
        free(name);
        return -1; /* a header without a value */
    }
    free(name);
    free(value);
    return 0;
}

static void conditional(void) {
    for (unsigned i = 0; i < 2 * steps; ++i) {
        serve(i);
        parse_header(i);
        pace(step_us / 2);
    }
}

static PLACE int open_item(unsigned number) {
    char* path = TAKE(300);
    char* buffer = TAKE(4096);
    char* index = number % 7 == 0 ? NULL : TAKE(100);
    if (index == NULL) {
        return -1; /* both are lost */
    }
    free(index);
    free(buffer);
    free(path);
    return 0;
}

static void error_path(void) {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        open_item(i);
        pace(step_us);
    }
}

static PLACE void log_in(void) {
    free(TAKE(400));
}

static PLACE void session_name(unsigned number) {
    char* name = TAKE(600);
    if (number % 4 != 0) {
        free(name);
    }
}

static PLACE void render(void) {
    free(TAKE(8000));
}

static PLACE void log_out(void) {
    free(TAKE(200));
}

static void one_of_several(void) {
    for (unsigned i = 0; i < 2 * steps; ++i) {
        log_in();
        session_name(i);
        render();
        log_out();
        pace(step_us / 2);
    }
}

static KEPT char* base[1024];

static PLACE void load_base(void) {
    for (unsigned i = 0; i < 1024; ++i) {
        base[i] = TAKE(96 << 10);
    }
}

/* 96 MiB that stay, and 125 KB a second that are lost. */
static void beside_a_base(void) {
    load_base();
    for (unsigned i = 0; i < 320; ++i) {
        serve(i);
        forget(1000);
        pace(8000);
    }
}

static KEPT char* cache[1500];

static PLACE void fill_cache(unsigned number) {
    cache[number] = TAKE(18000);
}

/* The cache takes 9 MB in the first second of three, the leak 1 MB in each. */
static void beside_a_full_cache(void) {
    for (unsigned i = 0; i < 1500; ++i) {
        serve(i);
        forget(2000);
        if (i < 500) {
            fill_cache(i);
        }
        pace(step_us);
    }
}

static void beside_a_growing_cache(void) {
    for (unsigned i = 0; i < 1000; ++i) {
        serve(i);
        forget(1000);
        fill_cache(i);
        pace(step_us);
    }
}

struct Node {
    struct Node* next;
    struct Node* other;
    char content[480];
};

static KEPT struct Node* list;

static PLACE void append(unsigned number) {
    struct Node* node = (struct Node*)TAKE(sizeof *node);
    node->other = NULL;
    node->next = list;
    list = node;
    if (number % 10 == 9) {
        list->next = NULL; /* cuts off all others */
    }
}

static void list_tail(void) {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        append(i);
        pace(step_us);
    }
}

static PLACE void make_pair(void) {
    struct Node* a = (struct Node*)TAKE(sizeof *a);
    struct Node* b = (struct Node*)TAKE(sizeof *b);
    a->next = a->other = b;
    b->next = b->other = a;
}

static void cycles(void) {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        make_pair();
        pace(step_us);
    }
}

static PLACE void grow_buffer(void) {
    char* buffer = TAKE(1000);
    char* larger = TAKE(2000);
    memcpy(larger, buffer, 1000);
    buffer = larger; /* the old one is lost */
    free(buffer);
}

static void copied_buffer(void) {
    for (unsigned i = 0; i < steps; ++i) {
        grow_buffer();
        pace(step_us);
    }
}

static volatile size_t too_large = (size_t)1 << 62;

static PLACE void read_reply(void) {
    char* reply = TAKE(2000);
    reply = realloc(reply, too_large); /* fails, and the old one is lost */
    free(reply);
}

static void failed_realloc(void) {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        read_reply();
        pace(step_us);
    }
}

/* 20 KB a second */
static void slow(void) {
    for (unsigned i = 0; i < 500; ++i) {
        serve(i);
        forget(100);
        pace(5000);
    }
}

/* 20 MB a second */
static void fast(void) {
    for (unsigned i = 0; i < 1000; ++i) {
        serve(i);
        forget(20000);
        pace(1000);
    }
}

static PLACE void read_frame(void) {
    TAKE(256 << 10);
}

static void large_and_rare(void) {
    for (unsigned i = 0; i < 1000; ++i) {
        serve(i);
        if (i % 50 == 25) {
            read_frame();
        }
        pace(step_us);
    }
}

static void late(void) {
    for (unsigned i = 0; i < 1000; ++i) {
        serve(i);
        if (i >= 650) {
            forget(3000);
        }
        pace(step_us);
    }
}

static PLACE void load_configuration(void) {
    for (unsigned i = 0; i < 2000; ++i) {
        TAKE(1000);
    }
}

static void at_the_start(void) {
    load_configuration();
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        pace(step_us);
    }
}

static void in_bursts(void) {
    for (unsigned i = 0; i < 1000; ++i) {
        serve(i);
        if (i / 100 % 2 == 1) {
            forget(2000);
        }
        pace(step_us);
    }
}

static void accelerating(void) {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        forget(8 * (i + 1));
        pace(step_us);
    }
}

static PLACE void remember_name(unsigned number) {
    char name[600];
    memset(name, 'a' + (int)(number % 26), sizeof name - 1);
    name[sizeof name - 1] = 0;
    touched(strdup(name), 1);
}

static void copied_strings(void) {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        remember_name(i);
        pace(step_us);
    }
}

static PLACE void render_page(unsigned number) {
    char* page = NULL;
    size_t size = 0;
    FILE* stream = open_memstream(&page, &size);
    fprintf(stream, "%01000u", number);
    fclose(stream); /* the page remains the caller's */
}

static void memory_streams(void) {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        render_page(i);
        pace(step_us);
    }
}

struct Document {
    char* text;
    char title[100];
};

static PLACE struct Document* open_document(void) {
    struct Document* document = (struct Document*)TAKE(sizeof *document);
    document->text = TAKE(1500);
    return document;
}

static PLACE void close_document(struct Document* document) {
    free(document); /* and not its text */
}

static void members(void) {
    for (unsigned i = 0; i < steps; ++i) {
        close_document(open_document());
        pace(step_us);
    }
}

static PLACE void align_buffer(void) {
    void* buffer = NULL;
    if (posix_memalign(&buffer, 256, 1024) == 0) {
        touched(buffer, 1024);
    }
}

static void aligned(void) {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        align_buffer();
        pace(step_us);
    }
}

/* Live memory falls, because a base is taken down, while blocks are lost. */
static void beside_a_falling_base(void) {
    static KEPT char* large[100];
    for (unsigned i = 0; i < 100; ++i) {
        large[i] = TAKE(256 << 10);
    }
    for (unsigned i = 0; i < 1000; ++i) {
        serve(i);
        forget(1000);
        if (i % 10 == 5) {
            free(large[i / 10]);
            large[i / 10] = NULL;
        }
        pace(step_us);
    }
}

/* 4 MB rise and fall five times a second. */
static void beside_a_sawtooth(void) {
    static KEPT char* batch[100];
    for (unsigned i = 0; i < 1000; ++i) {
        serve(i);
        forget(1000);
        batch[i % 100] = TAKE(40000);
        if (i % 100 == 99) {
            for (unsigned j = 0; j < 100; ++j) {
                free(batch[j]);
                batch[j] = NULL;
            }
        }
        pace(step_us);
    }
}

/* A pool of fixed size, whose blocks are used again, beside a leak. */
static void beside_a_pool(void) {
    static KEPT char* pool[64];
    for (unsigned i = 0; i < 64; ++i) {
        pool[i] = TAKE(32000);
    }
    for (unsigned i = 0; i < steps; ++i) {
        touched(pool[i % 64], 32000);
        serve(i);
        forget(500);
        pace(step_us);
    }
}

SCENARIOS({"every-request", every_request}, {"every-twentieth", every_twentieth},
          {"conditional", conditional}, {"error-path", error_path},
          {"one-of-several", one_of_several}, {"beside-a-base", beside_a_base},
          {"beside-a-full-cache", beside_a_full_cache},
          {"beside-a-growing-cache", beside_a_growing_cache}, {"list-tail", list_tail},
          {"cycles", cycles}, {"copied-buffer", copied_buffer}, {"failed-realloc", failed_realloc},
          {"slow", slow}, {"fast", fast}, {"large-and-rare", large_and_rare}, {"late", late},
          {"at-the-start", at_the_start}, {"in-bursts", in_bursts}, {"accelerating", accelerating},
          {"copied-strings", copied_strings}, {"memory-streams", memory_streams},
          {"members", members}, {"aligned", aligned},
          {"beside-a-falling-base", beside_a_falling_base},
          {"beside-a-sawtooth", beside_a_sawtooth}, {"beside-a-pool", beside_a_pool})
