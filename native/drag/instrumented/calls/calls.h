/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the files of this folder are made with. They stand in front of routines of the C library,
 * which was not rebuilt, and say which of the program's objects a call accesses; the call itself is
 * passed on. It is enough to name one byte of each object.
 *
 * A routine that may wait, or that changes what it is given, is noted when it has returned.
 */
#pragma once

/* The headers are to declare these routines and not to define them. */
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

/* An access by the program to the object there; to none if there is none. */
void heapwright_touch(const void* address);

/* The next definition of a routine, or the end of the program if there is none. */
void* heapwright_next_routine(heapwright_routine* known, const char* name);

/* What the C library allocates for the program between these two is the program's. */
struct heapwright_behalf {
    const void* before;
};
struct heapwright_behalf heapwright_on_behalf(const void* frame);
void heapwright_behalf_ends(struct heapwright_behalf* behalf);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#else

/* `next` is, until the end of the block, the routine behind the one of this name. */
#define BEHIND(name)                                                                               \
    static heapwright_routine known;                                                               \
    __typeof__(&name) next;                                                                        \
    void* const behind = heapwright_next_routine(&known, #name);                                   \
    __builtin_memcpy(&next, &behind, sizeof next)

/* What is allocated until the end of the block is the caller's. */
#define ON_BEHALF                                                                                  \
    __attribute__((cleanup(heapwright_behalf_ends), unused)) struct heapwright_behalf behalf =     \
        heapwright_on_behalf(__builtin_frame_address(0))

/* For arguments of which the headers say that they are never null. */
static inline void touch(const void* address) {
    heapwright_touch(address);
}
static inline void touchSome(const void* address, size_t size) {
    if (size != 0) {
        heapwright_touch(address);
    }
}
#endif
