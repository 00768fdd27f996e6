/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The helpers of this folder's files. The files intercept routines of the C library, which is not
 * rebuilt, and report the program's objects that a call accesses. Then they pass the call on. One
 * byte of each object is enough.
 *
 * A routine that may wait, or that changes its argument, is recorded when it has returned.
 */
#pragma once

/* The headers must declare these routines and not define them. */
#undef _FORTIFY_SOURCE
#ifndef __NO_INLINE__
#define __NO_INLINE__ 1
#endif

#include <stddef.h>

#ifdef __cplusplus
#include <atomic>
using heapwright_routine = std::atomic<void*>;
extern "C" {
#else
typedef void* _Atomic heapwright_routine;
#endif

#pragma GCC visibility push(hidden)

/* Records an access by the program to the object at the address, if there is one. */
void heapwright_touch(const void* address);

/* The next definition of a routine. Ends the program if there is none. */
void* heapwright_next_routine(heapwright_routine* known, const char* name);

/* Allocations by the C library between these two calls belong to the program. */
struct heapwright_behalf {
    const void* before;
};
struct heapwright_behalf heapwright_on_behalf(const void* frame);
void heapwright_behalf_ends(struct heapwright_behalf* behalf);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#else

/* `next` is the next definition of this name, until the end of the block. */
#define BEHIND(name)                                                                               \
    static heapwright_routine known;                                                               \
    __typeof__(&name) next;                                                                        \
    void* const behind = heapwright_next_routine(&known, #name);                                   \
    __builtin_memcpy(&next, &behind, sizeof next)

/* Allocations until the end of the block belong to the caller. */
#define ON_BEHALF                                                                                  \
    __attribute__((cleanup(heapwright_behalf_ends), unused)) struct heapwright_behalf behalf =     \
        heapwright_on_behalf(__builtin_frame_address(0))

/* For arguments that the headers declare as never null. */
static inline void touch(const void* address) {
    heapwright_touch(address);
}
static inline void touchSome(const void* address, size_t size) {
    if (size != 0) {
        heapwright_touch(address);
    }
}
#endif
