/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a program may ask of granary, the allocator, beyond malloc: its settings, its figures, a
 * walk over all objects, and memory back to the system at once. docs/granary.md tells more.
 *
 * The functions are in the allocator's own library, which may be linked or preloaded or not be
 * there at all: they are weak, so ask whether they are there.
 *
 *     if (heapwright_granary_set != NULL) {
 *         heapwright_granary_set("return", "at-once");
 *     }
 *
 * Any thread may call them at any time, but no signal handler.
 */
#ifndef HEAPWRIGHT_C_GRANARY_H
#define HEAPWRIGHT_C_GRANARY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEAPWRIGHT_WEAK __attribute__((weak))

/* Sets a setting, as the environment variable HEAPWRIGHT_GRANARY would. 0, or ENOENT if there is no
 * setting of that name, or EINVAL if it cannot have that value; then nothing has changed. */
HEAPWRIGHT_WEAK int heapwright_granary_set(const char* name, const char* value);

/* Writes what a setting is set to into `size` bytes at `value`, cut off if it is longer and always
 * ended by a zero byte (if size is not 0). How long it is; 0 if there is no setting of that name.
 */
HEAPWRIGHT_WEAK size_t heapwright_granary_get(const char* name, char* value, size_t size);

/* Figures of the whole process. An object that was freed and waits in a thread's cache is cached;
 * live are the others. Counts that go up from the start of the process are told apart as such. */
struct heapwright_granary_figures {
    uint64_t live_objects;
    uint64_t live_bytes;    /* what they may use */
    uint64_t large_objects; /* of the live ones, those that no size class serves */
    uint64_t large_bytes;
    uint64_t cached_objects;
    uint64_t cached_bytes;
    uint64_t free_bytes;   /* free slots in superblocks */
    uint64_t dirty_bytes;  /* free memory that is not returned yet */
    uint64_t clean_bytes;  /* free memory that is returned, or was never touched */
    uint64_t mapped_bytes; /* addresses from the system, with memory behind them or not */
    uint64_t threads;      /* with a cache */
    uint64_t maps;         /* since the start: calls of the system that gave addresses, */
    uint64_t unmaps;       /* … that gave them back, */
    uint64_t purges;       /* … that gave memory back and kept the addresses, */
    uint64_t purged_bytes;
    uint64_t lock_takes; /* since the start */
    uint64_t lock_waits; /* … of these, how many had to wait for another thread */
};

/* Writes the figures, all of one moment, to where `figures` points. */
HEAPWRIGHT_WEAK void heapwright_granary_statistics(struct heapwright_granary_figures* figures);

/* Prints all that is known to a descriptor: as a table, or as a line of JSON if `json` is not 0
 * (granary-statistics.schema.json). 0, or EIO if it could not be written. */
HEAPWRIGHT_WEAK int heapwright_granary_print(int descriptor, int json);

/* An object that malloc gave out, or one that was freed and that a thread's cache keeps. */
struct heapwright_granary_object {
    void* address;
    size_t size;    /* bytes that may be used */
    int size_class; /* its number; -1 if it is large */
    int cached;     /* not 0: it was freed */
};

/* Shows every object of the process, in no order, as they all were at one moment: other threads
 * wait until that has been written down, and then go on. `visit` may do anything, allocate and
 * free, too; an object may be gone when it is shown. What is in the caches of threads that are
 * running is told as well as can be: for an exact answer let them wait. The walk ends where `visit`
 * answers with something else than 0, which is answered here; else 0. ENOMEM if there is no memory
 * for the list: 24 bytes for each object, straight from the system. */
HEAPWRIGHT_WEAK int heapwright_granary_walk(
    int (*visit)(const struct heapwright_granary_object* object, void* argument), void* argument);

/* Gives all memory that is free back to the system, whatever the setting `return` says, after what
 * the calling thread's cache keeps; those of other threads stay. How many bytes that was. */
HEAPWRIGHT_WEAK size_t heapwright_granary_purge(void);

#undef HEAPWRIGHT_WEAK

#ifdef __cplusplus
}
#endif

#endif
