/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded behind an allocator: reports at intervals the live bytes and the bytes taken from the
 * system, by the allocator's own figures. All processes of a program share a table, the file that
 * HEAPWRIGHT_GAUGE names (SLOTS slots, zeroed). HEAPWRIGHT_GAUGE_MS is the interval in
 * milliseconds.
 *
 * The figures must come from the object that provides malloc in this process. jemalloc reports by
 * mallctl, gperftools' TCMalloc by its properties, and granary by its figures. All others,
 * including the C library, report by mallinfo2. An allocator with none of these takes no slot.
 *
 * Invariant: The table is mapped once and no descriptor is kept. So a server may close all
 * descriptors and change its user or its root. A slot belongs to one process, and a forked child
 * takes its own. A slot is written between two increments of its sequence, which is odd meanwhile.
 * Cost: a thread in each process, and one query in each interval. The C library's query walks its
 * free lists under their locks.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <heapwright/c/granary.h>

enum { SLOTS = 4096, NAME = 24, STACK = 128 * 1024, SHORTEST_MS = 10 };

struct Slot {
    _Atomic int64_t process;   /* 0: free */
    _Atomic uint64_t sequence; /* odd while it is written */
    _Atomic int64_t timeNs;    /* CLOCK_MONOTONIC */
    _Atomic uint64_t live;
    _Atomic uint64_t taken; /* taken from the system and not returned */
    char source[NAME];
};
_Static_assert(sizeof(struct Slot) == 64, "as experiment/program/gauge.py reads it");

struct Account {
    uint64_t live;
    uint64_t taken;
};

typedef int (*Mallctl)(const char*, void*, size_t*, void*, size_t);
typedef int (*Property)(const char*, size_t*);
typedef void (*Figures)(struct heapwright_granary_figures*);
typedef struct mallinfo2 (*Info)(void);

static struct {
    struct Slot* table;
    long intervalMs;
    const char* source;
    struct Account (*ask)(void);
    Mallctl mallctl;
    Property property;
    Figures figures;
    Info info;
} gauge;

static uint64_t numberOfJemalloc(const char* name) {
    size_t value = 0;
    size_t length = sizeof value;
    return gauge.mallctl(name, &value, &length, NULL, 0) == 0 ? value : 0;
}

static struct Account ofJemalloc(void) {
    uint64_t epoch = 1;
    gauge.mallctl("epoch", NULL, NULL, &epoch, sizeof epoch); /* refreshes the figures */
    const struct Account now = {numberOfJemalloc("stats.allocated"),
                                numberOfJemalloc("stats.resident")};
    return now;
}

static uint64_t numberOfTcmalloc(const char* name) {
    size_t value = 0;
    return gauge.property(name, &value) != 0 ? value : 0;
}

static struct Account ofTcmalloc(void) {
    const struct Account now = {numberOfTcmalloc("generic.current_allocated_bytes"),
                                numberOfTcmalloc("generic.heap_size") -
                                    numberOfTcmalloc("tcmalloc.pageheap_unmapped_bytes")};
    return now;
}

static struct Account ofGranary(void) {
    struct heapwright_granary_figures figures;
    gauge.figures(&figures);
    const struct Account now = {figures.live_bytes, figures.mapped_bytes - figures.clean_bytes};
    return now;
}

static struct Account ofInfo(void) {
    const struct mallinfo2 info = gauge.info();
    const struct Account now = {info.uordblks + info.hblkhd, info.arena + info.hblkhd};
    return now;
}

/* The address of `name`, if the object that provides malloc defines it. */
static void* beside(const void* base, const char* name) {
    void* const found = dlsym(RTLD_DEFAULT, name);
    Dl_info where;
    const int known = found != NULL && dladdr(found, &where) != 0;
    return known && where.dli_fbase == base ? found : NULL;
}

/* The base of the object that provides malloc; NULL if there is none. A program that takes the
 * address of malloc and is linked to a fixed address has an undefined symbol with a value. Then
 * the first other object that defines malloc provides it. */
static const void* provider(void) {
    Dl_info where;
    ElfW(Sym)* symbol = NULL;
    void* const first = dlsym(RTLD_DEFAULT, "malloc");
    if (first == NULL || dladdr1(first, &where, (void**)&symbol, RTLD_DL_SYMENT) == 0) {
        return NULL;
    }
    if (symbol == NULL || symbol->st_shndx != SHN_UNDEF) {
        return where.dli_fbase;
    }
    void* const program = dlopen(NULL, RTLD_LAZY);
    struct link_map* object = NULL;
    if (program == NULL || dlinfo(program, RTLD_DI_LINKMAP, &object) != 0) {
        return NULL;
    }
    while ((object = object->l_next) != NULL) {
        void* const handle = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
        void* const found = handle != NULL ? dlsym(handle, "malloc") : NULL;
        if (found != NULL && dladdr(found, &where) != 0 &&
            (ElfW(Addr))where.dli_fbase == object->l_addr) {
            return where.dli_fbase;
        }
    }
    return NULL;
}

static void choose(void) {
    const void* const base = provider();
    if (base == NULL) {
        return;
    }
    *(void**)&gauge.mallctl = beside(base, "mallctl");
    *(void**)&gauge.property = beside(base, "MallocExtension_GetNumericProperty");
    *(void**)&gauge.figures = beside(base, "heapwright_granary_statistics");
    *(void**)&gauge.info = beside(base, "mallinfo2");
    if (gauge.mallctl != NULL) {
        gauge.ask = ofJemalloc;
        gauge.source = "mallctl";
    } else if (gauge.property != NULL) {
        gauge.ask = ofTcmalloc;
        gauge.source = "MallocExtension";
    } else if (gauge.figures != NULL) {
        gauge.ask = ofGranary;
        gauge.source = "granary";
    } else if (gauge.info != NULL) {
        gauge.ask = ofInfo;
        gauge.source = "mallinfo2";
    }
}

static struct Slot* ownSlot(void) {
    for (int i = 0; i < SLOTS; ++i) {
        int64_t nobody = 0;
        if (atomic_compare_exchange_strong(&gauge.table[i].process, &nobody, getpid())) {
            return &gauge.table[i];
        }
    }
    return NULL;
}

static void note(struct Slot* slot) {
    struct timespec now = {0, 0};
    const struct Account account = gauge.ask();
    clock_gettime(CLOCK_MONOTONIC, &now);
    atomic_fetch_add(&slot->sequence, 1);
    atomic_store(&slot->timeNs, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
    atomic_store(&slot->live, account.live);
    atomic_store(&slot->taken, account.taken);
    atomic_fetch_add(&slot->sequence, 1);
}

static void* tell(void* nothing) {
    struct Slot* const slot = ownSlot();
    if (slot == NULL) {
        return nothing;
    }
    strncpy(slot->source, gauge.source, NAME - 1);
    const struct timespec pause = {gauge.intervalMs / 1000, gauge.intervalMs % 1000 * 1000000};
    for (;;) {
        note(slot);
        nanosleep(&pause, NULL);
    }
}

static void begin(void) {
    sigset_t all;
    sigset_t before;
    pthread_attr_t how;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are left to the program's own threads */
    if (pthread_attr_init(&how) == 0) {
        pthread_attr_setstacksize(&how, STACK);
        pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
        pthread_create(&thread, &how, tell, NULL);
        pthread_attr_destroy(&how);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

__attribute__((constructor)) static void start(void) {
    const char* const path = getenv("HEAPWRIGHT_GAUGE");
    const char* const every = getenv("HEAPWRIGHT_GAUGE_MS");
    const long wanted = every != NULL ? strtol(every, NULL, 10) : 0;
    if (path == NULL) {
        return;
    }
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) {
        return;
    }
    void* const table =
        mmap(NULL, SLOTS * sizeof(struct Slot), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (table == MAP_FAILED) {
        return;
    }
    gauge.table = table;
    gauge.intervalMs = wanted < SHORTEST_MS ? SHORTEST_MS : wanted;
    choose();
    if (gauge.ask != NULL && pthread_atfork(NULL, NULL, begin) == 0) {
        begin();
    }
}
