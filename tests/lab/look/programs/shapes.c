/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Constructs a heap of a named shape and states the truth about it:
 *
 *     shapes NAME
 *
 * It prints `live BLOCKS BYTES`: the usable bytes of its blocks. For each line `trim` on standard
 * input it calls malloc_trim(0) and prints `released BYTES`, by which resident memory fell. For
 * `check` it prints `intact BLOCKS`: those that begin as they were filled. It ends at the end of
 * the input. The table of its blocks is not in the heap.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { mostBlocks = 1 << 21, kib = 1 << 10, mib = 1 << 20, threads = 8 };

static uintptr_t* table;
static size_t count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t state = 88172645463325252u;

static uint64_t draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* Enters a block as live. */
static void* enter(void* block) {
    if (block == NULL) {
        _exit(3);
    }
    pthread_mutex_lock(&lock);
    table[count++] = (uintptr_t)block;
    pthread_mutex_unlock(&lock);
    return block;
}

static void* filled(size_t bytes) {
    void* const block = malloc(bytes);
    if (block == NULL) {
        _exit(3);
    }
    return memset(block, 1, bytes);
}

static void* live(size_t bytes) {
    return enter(filled(bytes));
}

/* Frees the blocks of the table from `begin` on, one of `step`. */
static void freeSome(size_t begin, size_t step) {
    size_t kept = begin;
    for (size_t at = begin; at < count; ++at) {
        if ((at - begin) % step == 0) {
            free((void*)table[at]);
        } else {
            table[kept++] = table[at];
        }
    }
    count = kept;
}

static void freeFrom(size_t begin) {
    while (count > begin) {
        free((void*)table[--count]);
    }
}

static void small(void) {
    for (int i = 0; i < 200000; ++i) {
        live(48);
    }
}

static void mixed(void) {
    for (int i = 0; i < 40000; ++i) {
        live(16 + draw() % 2000);
    }
    freeSome(0, 2);
    for (int i = 0; i < 5000; ++i) {
        live(16 + draw() % 500);
    }
    freeSome(0, 3);
}

static void pins(void) {
    static void* big[400];
    for (int i = 0; i < 400; ++i) {
        big[i] = filled(64 * kib);
        live(4 * kib);
    }
    for (int i = 0; i < 400; ++i) {
        free(big[i]);
    }
}

static void freedTop(void) {
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    for (int i = 0; i < 4000; ++i) {
        live(10 * kib);
    }
    freeFrom(1000);
}

static void threadCache(void) {
    for (int i = 0; i < 2000; ++i) {
        live(1000);
    }
    void* some[7];
    for (size_t bytes = 24; bytes <= 1032; bytes += 16) {
        for (int i = 0; i < 7; ++i) {
            some[i] = filled(bytes);
        }
        for (int i = 0; i < 7; ++i) {
            free(some[i]);
        }
    }
}

static void fastBins(void) {
    for (int i = 0; i < 100000; ++i) {
        live(64);
    }
    freeSome(0, 2);
}

static void fastBelowTop(void) {
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    for (int i = 0; i < 20000; ++i) {
        live(100);
    }
    const size_t kept = count;
    for (int i = 0; i < 100000; ++i) {
        live(100);
    }
    freeFrom(kept);
}

static void mapped(void) {
    for (int i = 0; i < 20; ++i) {
        live(mib + i * 5000);
    }
}

static void risenThreshold(void) {
    free(filled(16 * mib));
    for (int i = 0; i < 12; ++i) {
        live(4 * mib);
    }
    freeSome(0, 2);
}

static void aligned(void) {
    for (int i = 0; i < 20000; ++i) {
        void* const block = memalign((size_t)32 << draw() % 8, 100 + draw() % 3000);
        enter(memset(block, 1, 100));
    }
    freeSome(0, 3);
}

static void alignedMapped(void) {
    for (int i = 0; i < 10; ++i) {
        enter(memset(memalign((size_t)4096 << i % 5, 2 * mib), 1, 2 * mib));
    }
}

static void zeroed(void) {
    for (int i = 0; i < 50000; ++i) {
        enter(calloc(10, 100));
    }
    freeSome(0, 4);
}

static void reallocated(void) {
    for (int i = 0; i < 3000; ++i) {
        void* block = filled(100);
        block = realloc(block, 100 + draw() % 20000);
        enter(realloc(block, 50 + draw() % 5000));
    }
}

/* Threads that do something and stay. */
static pthread_barrier_t done;
static void (*work)(void);
static int stays = 1;

static void* run(void* none) {
    work();
    pthread_barrier_wait(&done);
    while (stays) {
        pause();
    }
    return none;
}

static void inThreads(int number, void (*of)(void)) {
    work = of;
    pthread_barrier_init(&done, NULL, (unsigned)number + 1);
    pthread_t thread[threads];
    for (int i = 0; i < number; ++i) {
        pthread_create(&thread[i], NULL, run, NULL);
    }
    pthread_barrier_wait(&done);
    for (int i = 0; i < number && !stays; ++i) {
        pthread_join(thread[i], NULL);
    }
}

static void someLive(void) {
    for (int i = 0; i < 5000; ++i) {
        live(600);
    }
}

static void mostFreed(void) {
    void* own[700];
    for (int i = 0; i < 700; ++i) {
        own[i] = filled(10 * kib);
        if (i % 50 == 0) {
            live(2 * kib);
        }
    }
    for (int i = 0; i < 700; ++i) {
        free(own[i]);
    }
}

static void arenas(void) {
    inThreads(threads, someLive);
}

static void retained(void) {
    small();
    inThreads(threads, mostFreed);
}

static void ended(void) {
    stays = 0;
    inThreads(threads, someLive);
    inThreads(threads, mostFreed);
}

static void foreignFree(void) {
    inThreads(threads, someLive);
    freeSome(0, 2);
}

static void manyBlocks(void) {
    for (int i = 0; i < 1500; ++i) {
        live(100 * kib);
    }
}

static void manyHeaps(void) {
    mallopt(M_MMAP_THRESHOLD, 32 * mib);
    inThreads(1, manyBlocks);
    freeSome(0, 2);
}

static void foreignBreak(void) {
    for (int round = 0; round < 4; ++round) {
        for (int i = 0; i < 3000; ++i) {
            live(500);
        }
        if (sbrk(3 * 4096 + 80 * round) == (void*)-1) {
            _exit(3);
        }
    }
    freeSome(0, 2);
}

static void oneArena(void) {
    mallopt(M_ARENA_MAX, 1);
    inThreads(threads, someLive);
    freeSome(0, 3);
}

static void untouched(void) {
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    for (int i = 0; i < 100; ++i) {
        enter(malloc(mib));
    }
    freeSome(0, 2);
}

static void sawtooth(void) {
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < 8000; ++i) {
            live(200 + draw() % 4000);
        }
        freeSome(0, 2);
        freeFrom(count / 4 * 3);
    }
}

/* Nothing leads to two of three blocks. */
static void lost(void) {
    for (int i = 0; i < 9000; ++i) {
        live(200);
    }
    for (size_t at = 0; at < count; ++at) {
        table[at] = at % 3 == 0 ? table[at] : ~table[at];
    }
}

/* Changes its heap all the time. */
static void* churn(void* none) {
    void* own[2000] = {NULL};
    for (size_t at = 0;; at = (at * 7 + 1) % 2000) {
        free(own[at]);
        own[at] = filled(16 + draw() % 3000);
    }
    return none;
}

static void busy(void) {
    small();
    pthread_t thread;
    pthread_create(&thread, NULL, churn, NULL);
}

static const struct {
    const char* name;
    void (*construct)(void);
} shapes[] = {{"small", small},
              {"mixed", mixed},
              {"pins", pins},
              {"freed-top", freedTop},
              {"thread-cache", threadCache},
              {"fast-bins", fastBins},
              {"fast-below-top", fastBelowTop},
              {"mapped", mapped},
              {"risen-threshold", risenThreshold},
              {"aligned", aligned},
              {"aligned-mapped", alignedMapped},
              {"zeroed", zeroed},
              {"reallocated", reallocated},
              {"arenas", arenas},
              {"retained", retained},
              {"ended", ended},
              {"foreign-free", foreignFree},
              {"many-heaps", manyHeaps},
              {"foreign-break", foreignBreak},
              {"one-arena", oneArena},
              {"untouched", untouched},
              {"sawtooth", sawtooth},
              {"lost", lost},
              {"busy", busy}};

/* Pages of code may arrive meanwhile, so files do not count. It requests nothing from malloc. */
static long resident(void) {
    static char text[4096];
    const int file = open("/proc/self/smaps_rollup", O_RDONLY);
    const ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    text[got > 0 ? got : 0] = 0;
    const char* const found = strstr(text, "\nAnonymous:");
    return found == NULL ? 0 : atol(found + strlen("\nAnonymous:")) * 1024;
}

static size_t intact(void) {
    size_t found = 0;
    for (size_t at = 0; at < count; ++at) {
        found += table[at] >> 63 == 0 && *(const char*)table[at] == 1;
    }
    return found;
}

static void print(const char* name, size_t first, size_t second) {
    char line[100];
    const int length = snprintf(line, sizeof line, "%s %zu %zu\n", name, first, second);
    if (write(1, line, (size_t)length) != length) {
        _exit(3);
    }
}

int main(int number, char** words) {
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    table = mmap(NULL, mostBlocks * sizeof *table, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t at = 0;
    const size_t shapeCount = sizeof shapes / sizeof *shapes;
    while (at < shapeCount && (number < 2 || strcmp(words[1], shapes[at].name) != 0)) {
        ++at;
    }
    if (at == shapeCount) {
        return 2;
    }
    shapes[at].construct();
    size_t bytes = 0;
    for (size_t each = 0; each < count; ++each) {
        const uintptr_t block = table[each] >> 63 ? ~table[each] : table[each];
        bytes += malloc_usable_size((void*)block);
    }
    print("live", count, bytes);
    char line[16];
    while (read(0, line, sizeof line) > 0) {
        if (line[0] == 'c') {
            print("intact", intact(), 0);
            continue;
        }
        const long before = resident();
        malloc_trim(0);
        const long after = resident();
        print("released", before > after ? (size_t)(before - after) : 0, 0);
    }
    _exit(0);
}
