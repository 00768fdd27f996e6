// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A load of several threads under a system that refuses memory. The system refuses by limits
// (setrlimit). With refuse.c between, it refuses the first call, or the second, or the third … to
// the last. In every case, a request is served whole or answered with null and ENOMEM, and no
// object changes. When the system provides memory again, so does the heap.
#define _GNU_SOURCE
#include "scenes.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>

__attribute__((weak)) void refuse(long first, long last);
__attribute__((weak)) long refusable(void);

enum { THREADS = 3, RING = 40, OBJECTS = 800, PASSED_ON = 8 };
static atomic_long nulls; // answers of null
static struct object* _Atomic passed[PASSED_ON];

static struct object* marked(void* memory, size_t size, uintptr_t mark) {
    struct object* const object = memory;
    if (object == NULL) {
        CHECK(errno == ENOMEM);
        atomic_fetch_add(&nulls, 1);
        return NULL;
    }
    memset(object, (int)(mark & 0xFF), size);
    object->size = size;
    object->mark = mark;
    return object;
}

static size_t drawn_size(uint32_t random) {
    static const size_t large[] = {9000, 33000, 70000, 150000, 400000, 1100000, 4300000, 70000};
    return random % 24 == 0 ? large[random / 24 % 8] : some_size(random * 7);
}

static struct object* drawn(uint32_t random) {
    const size_t size = drawn_size(random / 16);
    const uintptr_t mark = random % 251;
    errno = 0;
    if (random % 16 == 0) {
        char* const zeros = calloc(1, size);
        for (size_t i = 0; zeros != NULL && i < size; i += 1 + i / 16) {
            CHECK(zeros[i] == 0);
        }
        return marked(zeros, size, mark);
    }
    if (random % 16 == 1) {
        const size_t alignment = (size_t)16 << random / 16 % 13; // up to 64 KiB
        void* memory = NULL;
        const int result = posix_memalign(&memory, alignment, size);
        CHECK(result == 0 ? (uintptr_t)memory % alignment == 0 : result == ENOMEM);
        return marked(memory, size, mark);
    }
    return marked(malloc(size), size, mark);
}

static struct object* redrawn(struct object* object, uint32_t random) {
    checked(object);
    const size_t had = object->size;
    const uintptr_t mark = object->mark;
    const size_t size = drawn_size(random);
    errno = 0;
    struct object* const moved = realloc(object, size);
    if (moved == NULL) {
        CHECK(errno == ENOMEM);
        atomic_fetch_add(&nulls, 1);
        checked(object);
        return object;
    }
    moved->size = size < had ? size : had;
    checked(moved);
    return marked(moved, size, mark);
}

static void* load(void* number) {
    struct object* ring[RING] = {NULL};
    uint32_t random = (uint32_t)(uintptr_t)number * 7919 + 11;
    for (int i = 0; i < OBJECTS; ++i) {
        const uint32_t now = next_random(&random);
        struct object** const place = &ring[now % RING];
        if (*place != NULL && now % 5 == 0) {
            *place = redrawn(*place, next_random(&random));
            continue;
        }
        if (*place != NULL) {
            unmade(*place);
        }
        *place = drawn(next_random(&random));
        if (now % 6 == 0) { // over to another thread
            struct object* const other = atomic_exchange(&passed[now / 6 % PASSED_ON], *place);
            *place = other;
        }
        if (i % 250 == 249) {
            malloc_trim(0);
        }
    }
    for (size_t i = 0; i < RING; ++i) {
        if (ring[i] != NULL) {
            unmade(ring[i]);
        }
    }
    return NULL;
}

static void threads_load(void) {
    pthread_t threads[THREADS];
    int started = 0;
    for (; started < THREADS; ++started) {
        const int result =
            pthread_create(&threads[started], NULL, &load, (void*)(uintptr_t)started);
        CHECK(result == 0 || result == EAGAIN || result == ENOMEM);
        if (result != 0) {
            break; // the C library's own request was refused
        }
    }
    load((void*)(uintptr_t)THREADS);
    for (int i = 0; i < started; ++i) {
        pthread_join(threads[i], NULL);
    }
    for (size_t i = 0; i < PASSED_ON; ++i) {
        struct object* const object = atomic_exchange(&passed[i], NULL);
        if (object != NULL) {
            unmade(object);
        }
    }
}

/// The system refuses nothing now, so the heap may refuse nothing.
static void usable(void) {
    atomic_store(&nulls, 0);
    load((void*)(uintptr_t)THREADS);
    CHECK(atomic_load(&nulls) == 0);
}

/// Runs `body` in a child; its exit status.
static int in_child(void (*body)(long), long argument) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(120);
        body(argument);
        _exit(0);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

enum { NO_MORE = 10 };

static void one_refused(long which) {
    refuse(which, which);
    threads_load();
    const long calls = refusable();
    refuse(0, 0);
    usable();
    if (calls < which) {
        _exit(NO_MORE);
    }
}

static void all_refused_from(long which) {
    refuse(which, 0x7FFFFFFF);
    threads_load();
    const long calls = refusable();
    refuse(0, 0);
    usable();
    if (calls < which) {
        _exit(NO_MORE);
    }
}

/// Every call in turn. With a count, that many of the first, and then fewer and fewer, for a
/// program that makes thousands of them. The number of the last is printed, for a test that checks
/// that there are some.
static void sweep(void (*body)(long)) {
    long which = 0;
    long last = 0;
    int status = 0;
    while (status != NO_MORE) {
        last = which;
        which += count > 0 ? 1 + which / count : 1;
        status = in_child(body, which);
        if (status != 0 && status != NO_MORE) {
            fprintf(stderr, "with call %ld refused\n", which);
            exit(1);
        }
    }
    printf("%ld\n", last);
}

static void each(void) {
    sweep(&one_refused);
}
static void each_and_all_after(void) {
    sweep(&all_refused_from);
}

// --- limits --------------------------------------------------------------------------------------

static long mapped_bytes(void) {
    long pages = 0;
    FILE* const file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static void limit(int resource, long bytes) {
    struct rlimit now;
    CHECK(getrlimit(resource, &now) == 0);
    now.rlim_cur = bytes < 0 ? now.rlim_max : (rlim_t)bytes;
    CHECK(setrlimit(resource, &now) == 0);
}

/// Takes all that there is, in objects of one size; how many they were. They are all whole, go in
/// another order than they came, and as many can be had again.
static long exhausted(size_t size, long most) {
    struct object* list = NULL;
    long number = 0;
    for (; number < most; ++number) {
        errno = 0;
        struct object* const object = marked(malloc(size), size, (uintptr_t)number % 251);
        if (object == NULL) {
            break;
        }
        memcpy(object + 1, &list, sizeof list);
        list = object;
    }
    struct object* kept = NULL; // every other one, turned round
    for (long i = 0; list != NULL; ++i) {
        struct object* next = NULL;
        memcpy(&next, list + 1, sizeof next);
        CHECK(list->size == size && list->mark == (uintptr_t)(number - 1 - i) % 251);
        if (i % 2 == 0) {
            memcpy(list + 1, &kept, sizeof kept);
            kept = list;
        } else {
            free(list);
        }
        list = next;
    }
    while (kept != NULL) {
        struct object* next = NULL;
        memcpy(&next, kept + 1, sizeof next);
        free(kept);
        kept = next;
    }
    return number;
}

static void limited(int resource, long bytes) {
    static const size_t sizes[] = {32, 200, 3000, 12000, 20000, 100000, 3000000};
    limit(resource, mapped_bytes() + bytes);
    threads_load();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        const long most = 64 * 1024 * 1024 / (long)sizes[i];
        const long first = exhausted(sizes[i], most);
        malloc_trim(0);
        const long second = exhausted(sizes[i], most);
        CHECK(second >= first - first / 4); // what was there is there again
    }
    limit(resource, -1);
    usable();
}

static void limited_addresses(long bytes) {
    limited(RLIMIT_AS, bytes);
}
static void limited_data(long bytes) {
    limited(RLIMIT_DATA, bytes);
}

static void at_many_limits(void (*body)(long)) {
    for (long kib = 0; kib <= 48 * 1024; kib += 64 + kib / 3) {
        CHECK(in_child(body, kib * 1024) == 0);
    }
}
static void addresses(void) {
    at_many_limits(&limited_addresses);
}
static void data(void) {
    at_many_limits(&limited_data);
}

/// Lives in 24 MiB at a time, and asks for many times as much; `count` MiB in all.
static void within(void) {
    static struct object* ring[2000];
    uint32_t random = 5;
    long total = 0;
    long live = 0;
    while (total < count * 1024 * 1024) {
        struct object** const place = &ring[next_random(&random) % 2000];
        if (*place != NULL) {
            live -= (long)(*place)->size;
            unmade(*place);
        }
        *place = NULL;
        const size_t size = drawn_size(next_random(&random));
        if (live + (long)size < 24 * 1024 * 1024) {
            *place = made(size, random & 0xFF);
            live += (long)size;
        }
        total += (long)size;
    }
}

int main(int argc, char** argv) {
    static const struct scene scenes[] = {{"each", &each},
                                          {"each-and-all-after", &each_and_all_after},
                                          {"addresses", &addresses},
                                          {"data", &data},
                                          {"within", &within}};
    return play(scenes, sizeof scenes / sizeof *scenes, argc, argv);
}
