/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The interface of the allocator granary beyond malloc: its settings, its figures, a walk over all
 * objects, and an immediate purge. See docs/reference/granary.md.
 *
 * The functions are in the allocator's own library, which may be linked, preloaded or absent. They
 * are weak, so test whether they exist:
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

/* Changes a setting, as the environment variable HEAPWRIGHT_GRANARY would. Returns 0; ENOENT if
 * there is no setting of that name; EINVAL if the value is invalid. On an error nothing changes. */
HEAPWRIGHT_WEAK int heapwright_granary_set(const char* name, const char* value);

/* Writes the value of a setting into `size` bytes at `value`. A longer value is cut off. The text
 * ends with a zero byte, unless size is 0. Returns the length of the value; 0 if there is no
 * setting of that name. */
HEAPWRIGHT_WEAK size_t heapwright_granary_get(const char* name, char* value, size_t size);

/* Figures of the whole process. A freed object in a thread's cache is cached; all other objects
 * in use are live. Counts since the start of the process are marked as such. */
struct heapwright_granary_figures {
    uint64_t live_objects;
    uint64_t live_bytes;    /* their usable bytes */
    uint64_t large_objects; /* the live objects too large for any size class */
    uint64_t large_bytes;
    uint64_t cached_objects;
    uint64_t cached_bytes;
    uint64_t free_bytes;   /* free slots in superblocks */
    uint64_t dirty_bytes;  /* free memory that is not returned to the system yet */
    uint64_t clean_bytes;  /* free memory that is returned, or was never touched */
    uint64_t mapped_bytes; /* addresses from the system, with or without memory */
    uint64_t threads;      /* threads with a cache */
    uint64_t maps;         /* since the start: system calls that mapped addresses */
    uint64_t unmaps;       /* since the start: system calls that unmapped addresses */
    /* Since the start: system calls that returned memory and kept the addresses. */
    uint64_t purges;
    uint64_t purged_bytes;
    uint64_t lock_takes; /* since the start */
    uint64_t lock_waits; /* since the start: acquisitions that had to wait */
};

/* Writes the figures, all of one moment, to `figures`. */
HEAPWRIGHT_WEAK void heapwright_granary_statistics(struct heapwright_granary_figures* figures);

/* How `heapwright_granary_print` prints: as a table, as a line of JSON
 * (granary-statistics.schema.json), or as metrics of Prometheus and OpenMetrics. */
enum heapwright_granary_format {
    HEAPWRIGHT_GRANARY_TABLE = 0,
    HEAPWRIGHT_GRANARY_JSON = 1,
    HEAPWRIGHT_GRANARY_OPENMETRICS = 2
};

/* Prints all figures to a descriptor. A format beyond these is JSON. Returns 0, or EIO if they
 * could not be written. */
HEAPWRIGHT_WEAK int heapwright_granary_print(int descriptor, int format);

/* A live object, or a freed one in a thread's cache. */
struct heapwright_granary_object {
    void* address;
    size_t size;    /* usable bytes */
    int size_class; /* index of the size class; -1 if it is large */
    int cached;     /* not 0: the object was freed */
};

/* Calls `visit` with every object of the process at one moment, in no order. Other threads wait
 * while the objects are listed, and then continue. `visit` may do anything, including allocate
 * and free. An object may have been freed before its visit. The caches of running threads are
 * reported as far as possible; stop the threads for an exact result. The walk ends when `visit`
 * returns a value other than 0, and returns that value; otherwise 0. Returns ENOMEM if there is
 * no memory for the list: 24 bytes for each object, directly from the system. */
HEAPWRIGHT_WEAK int heapwright_granary_walk(
    int (*visit)(const struct heapwright_granary_object* object, void* argument), void* argument);

/* Returns all free memory to the system, regardless of the setting `return`, after flushing the
 * calling thread's cache. The caches of other threads stay. Returns the number of bytes. */
HEAPWRIGHT_WEAK size_t heapwright_granary_purge(void);

#undef HEAPWRIGHT_WEAK

#ifdef __cplusplus
}
#endif

#endif
