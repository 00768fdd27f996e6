/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The next definitions of the allocation routines, behind a preloaded library, by RTLD_NEXT.
 */
#ifndef HEAPWRIGHT_VALGRIND_ROUTINES_H
#define HEAPWRIGHT_VALGRIND_ROUTINES_H

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* In the order of `routineNames`. */
struct Routines {
    void* (*malloc)(size_t);
    void* (*calloc)(size_t, size_t);
    void* (*realloc)(void*, size_t);
    void* (*reallocarray)(void*, size_t, size_t);
    void (*free)(void*);
    void* (*memalign)(size_t, size_t);
    void* (*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void**, size_t, size_t);
    void* (*valloc)(size_t);
    void* (*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void*);
    void* (*new[2])(size_t); /* single, array */
    void* (*newNothrow[2])(size_t, const void*);
    void* (*newAligned[2])(size_t, size_t);
    void* (*newAlignedNothrow[2])(size_t, size_t, const void*);
    void (*delete[2])(void*);
    void (*deleteSized[2])(void*, size_t);
    void (*deleteNothrow[2])(void*, const void*);
    void (*deleteAligned[2])(void*, size_t);
    void (*deleteSizedAligned[2])(void*, size_t, size_t);
    void (*deleteAlignedNothrow[2])(void*, size_t, const void*);
};

static const char* const routineNames[] = {"malloc",
                                           "calloc",
                                           "realloc",
                                           "reallocarray",
                                           "free",
                                           "memalign",
                                           "aligned_alloc",
                                           "posix_memalign",
                                           "valloc",
                                           "pvalloc",
                                           "malloc_usable_size",
                                           "_Znwm",
                                           "_Znam",
                                           "_ZnwmRKSt9nothrow_t",
                                           "_ZnamRKSt9nothrow_t",
                                           "_ZnwmSt11align_val_t",
                                           "_ZnamSt11align_val_t",
                                           "_ZnwmSt11align_val_tRKSt9nothrow_t",
                                           "_ZnamSt11align_val_tRKSt9nothrow_t",
                                           "_ZdlPv",
                                           "_ZdaPv",
                                           "_ZdlPvm",
                                           "_ZdaPvm",
                                           "_ZdlPvRKSt9nothrow_t",
                                           "_ZdaPvRKSt9nothrow_t",
                                           "_ZdlPvSt11align_val_t",
                                           "_ZdaPvSt11align_val_t",
                                           "_ZdlPvmSt11align_val_t",
                                           "_ZdaPvmSt11align_val_t",
                                           "_ZdlPvSt11align_val_tRKSt9nothrow_t",
                                           "_ZdaPvSt11align_val_tRKSt9nothrow_t"};
_Static_assert(sizeof(struct Routines) == sizeof routineNames, "a name for each routine");

enum { routineCount = sizeof routineNames / sizeof *routineNames, firstOperator = 11 };

/* Looks up the routines in `library`, from `first` on. Missing ones stay null. This allocates,
 * so the caller must prepare for that (arena.h). */
static inline void findRoutinesFrom(struct Routines* routines, size_t first, void* library) {
    for (size_t i = first; i < routineCount; ++i) {
        void* const routine = dlsym(library, routineNames[i]);
        memcpy((char*)routines + i * sizeof routine, &routine, sizeof routine);
    }
}

static inline void findRoutines(struct Routines* routines) {
    findRoutinesFrom(routines, 0, RTLD_NEXT);
}

/* Looks up the operators of a C++ runtime that the program opened later. */
static inline void findLateOperators(struct Routines* routines) {
    static const char* const runtimes[] = {"libstdc++.so.6", "libc++.so.1"};
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes && routines->new[0] == NULL; ++i) {
        void* const library = dlopen(runtimes[i], RTLD_LAZY | RTLD_NOLOAD);
        if (library != NULL) {
            findRoutinesFrom(routines, firstOperator, library);
            dlclose(library);
        }
    }
}

#endif
