// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole of include/heapwright/allocators/kingsley.hpp, written by hand, as a subject to count.
// To the core it adds objects of any alignment, one lock, and the rules of C's malloc. It also adds
// service for a signal handler that interrupts the heap. Functions outside malloc and free (calloc,
// realloc, fork, statistics) are left out.
#include "kingsley_core.h"
#include "subject.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>

// The lock: Drepper's second mutex, with the owner in its word; while there is one thread, plain
// loads and stores.

enum { kOpen = 0, kContended = 1, kTaken = 2, kSpins = 64 };

static atomic_uint lockWord;
static __attribute__((tls_model("initial-exec"))) _Thread_local uint32_t mark;

static inline unsigned self(void) {
    return (unsigned)(uintptr_t)&mark | kTaken;
}

RARE static void lockSlowly(void) {
    for (int i = 1; i <= kSpins; i *= 2) {
        for (int j = 0; j < i; ++j)
            __asm__ volatile("" ::: "memory");
        unsigned open = kOpen;
        if (atomic_compare_exchange_strong_explicit(&lockWord, &open, self(), memory_order_acquire,
                                                    memory_order_relaxed))
            return;
    }
    for (;;) {
        unsigned seen = atomic_load_explicit(&lockWord, memory_order_relaxed);
        if (seen == kOpen) {
            if (atomic_compare_exchange_weak(&lockWord, &seen, self() | kContended))
                return;
        } else if ((seen & kContended) != 0 ||
                   atomic_compare_exchange_weak(&lockWord, &seen, seen | kContended)) {
            int kept = errno;
            syscall(SYS_futex, &lockWord, FUTEX_WAIT_PRIVATE, seen | kContended, NULL, NULL, 0);
            errno = kept;
        }
    }
}

RARE static void wakeOne(void) {
    int kept = errno;
    syscall(SYS_futex, &lockWord, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = kept;
}

static inline bool tryLock(void) {
    if (__libc_single_threaded && atomic_load_explicit(&lockWord, memory_order_relaxed) == kOpen) {
        atomic_store_explicit(&lockWord, kTaken, memory_order_relaxed);
        return true;
    }
    unsigned open = kOpen;
    return atomic_compare_exchange_strong_explicit(&lockWord, &open, self(), memory_order_acquire,
                                                   memory_order_relaxed);
}

static inline void unlock(void) {
    if (__libc_single_threaded) {
        atomic_store_explicit(&lockWord, kOpen, memory_order_relaxed);
        return;
    }
    if (unlikely(atomic_exchange_explicit(&lockWord, kOpen, memory_order_release) & kContended))
        wakeOne();
}

// The arena for a handler that interrupted the heap: position << 32 | live objects in one word.

static const size_t kArena = (size_t)64 << 20;
static const uintptr_t kNowhere = ~(uintptr_t)0 - ((uintptr_t)64 << 20) + 1;
static _Atomic uintptr_t arenaBase = ~(uintptr_t)0 - ((uintptr_t)64 << 20) + 1;
static _Atomic uint64_t arenaState;

static inline bool arenaOwns(const void* object) {
    return (uintptr_t)object - atomic_load_explicit(&arenaBase, memory_order_relaxed) < kArena;
}

static uintptr_t arenaMapped(void) {
    uintptr_t base = atomic_load_explicit(&arenaBase, memory_order_acquire);
    if (base != kNowhere)
        return base;
    int kept = errno;
    void* pages = mmap(NULL, kArena, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) {
        errno = kept;
        return kNowhere;
    }
    if (atomic_compare_exchange_strong(&arenaBase, &base, (uintptr_t)pages))
        base = (uintptr_t)pages;
    else
        munmap(pages, kArena);
    errno = kept;
    return base;
}

RARE static void* arenaMalloc(size_t size) {
    uintptr_t base = arenaMapped();
    if (base == kNowhere || size > kArena)
        return NULL;
    uint64_t seen = atomic_load_explicit(&arenaState, memory_order_relaxed);
    uint64_t position = 0;
    uint64_t end = 0;
    do {
        position = (seen >> 32) + kAlignment;
        end = position + ((size + kAlignment - 1) & ~(size_t)(kAlignment - 1));
        if (end > kArena)
            return NULL;
    } while (
        !atomic_compare_exchange_weak(&arenaState, &seen, end << 32 | ((seen & 0xFFFFFFFFU) + 1)));
    return (void*)(base + position);
}

RARE static void arenaFree(void) {
    uint64_t seen = atomic_load_explicit(&arenaState, memory_order_relaxed);
    uint64_t next = 0;
    do {
        uint64_t live = (seen & 0xFFFFFFFFU) - 1;
        next = live == 0 ? 0 : (seen & ~(uint64_t)0xFFFFFFFFU) | live;
    } while (!atomic_compare_exchange_weak(&arenaState, &seen, next));
}

// The heap itself, and whether this thread is inside it.

static struct Core core;
static __attribute__((tls_model("initial-exec"))) _Thread_local bool inside;
static struct Node* _Atomic deferred;

/// The object itself, or the larger one that contains it if it was aligned beyond 16 bytes.
static inline void* original(void* object) {
    if (likely((uintptr_t)object % kAlignment != 0 || (uint16_t)*tagOf(object) == kLive))
        return object;
    uint64_t tag = *tagOf(object);
    return (uint16_t)tag == kDisplaced ? (char*)object - (tag >> kStateBits) : object;
}

static inline bool busy(void) {
    return inside || atomic_load_explicit(&deferred, memory_order_relaxed) != NULL;
}

static inline void leave(void) {
    unlock();
    atomic_signal_fence(memory_order_seq_cst);
    inside = false;
}

// What is rare is a jump to the whole operation out of line, so that the usual way has nothing to
// keep over a call.

RARE static void enterSlowly(void) {
    inside = true;
    atomic_signal_fence(memory_order_seq_cst);
    if (!tryLock())
        lockSlowly();
    struct Node* node = atomic_exchange_explicit(&deferred, NULL, memory_order_acquire);
    while (node != NULL) {
        struct Node* next = node->next;
        coreFree(&core, original(node));
        node = next;
    }
}

RARE static void* mallocAfterWaiting(size_t size) {
    lockSlowly();
    void* object = coreMalloc(&core, size);
    leave();
    return object;
}

RARE static void freeAfterWaiting(void* object) {
    lockSlowly();
    coreFree(&core, original(object));
    leave();
}

RARE static void* mallocAside(size_t size) {
    if (inside)
        return arenaMalloc(size);
    enterSlowly();
    void* object = coreMalloc(&core, size);
    leave();
    return object;
}

RARE static void defer(void* object) {
    struct Node* node = object;
    node->next = atomic_load_explicit(&deferred, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&deferred, &node->next, node,
                                                  memory_order_release, memory_order_relaxed)) {
    }
}

RARE static void freeAside(void* object) {
    if (inside) {
        defer(object);
        return;
    }
    enterSlowly();
    coreFree(&core, original(object));
    leave();
}

void* subjectMalloc(size_t size) {
    if (unlikely(size > PTRDIFF_MAX))
        return NULL;
    size += size == 0;
    if (unlikely(busy()))
        return mallocAside(size);
    inside = true;
    atomic_signal_fence(memory_order_seq_cst);
    if (unlikely(!tryLock()))
        return mallocAfterWaiting(size);
    void* object = coreMalloc(&core, size);
    leave();
    return object;
}

void subjectFree(void* object) {
    if (unlikely(object == NULL))
        return;
    if (unlikely(arenaOwns(object))) {
        arenaFree();
        return;
    }
    if (unlikely(busy())) {
        freeAside(object);
        return;
    }
    inside = true;
    atomic_signal_fence(memory_order_seq_cst);
    if (unlikely(!tryLock())) {
        freeAfterWaiting(object);
        return;
    }
    coreFree(&core, original(object));
    leave();
}

/// Alignment beyond 16 bytes: a larger object, with the distance to its start before the aligned
/// address.
void* subjectMemalign(size_t alignment, size_t size) {
    if (size > PTRDIFF_MAX || alignment > PTRDIFF_MAX)
        return NULL;
    char* object = subjectMalloc(alignment <= kAlignment ? size : size + alignment);
    size_t distance = -(uintptr_t)object & (alignment - 1);
    if (object == NULL || alignment <= kAlignment || distance == 0)
        return object;
    *tagOf(object + distance) = (uint64_t)distance << kStateBits | kDisplaced;
    return object + distance;
}
