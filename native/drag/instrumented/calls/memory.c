/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Routines on bytes, and the forms that a fortified program calls.
 */
#define _GNU_SOURCE
#include "calls.h"

#include <string.h>
#include <strings.h>

void* __memcpy_chk(void* to, const void* from, size_t size, size_t room);
void* __memmove_chk(void* to, const void* from, size_t size, size_t room);
void* __mempcpy_chk(void* to, const void* from, size_t size, size_t room);
void* __memset_chk(void* to, int value, size_t size, size_t room);

#pragma GCC visibility push(default)

#define COPIES(name)                                                                               \
    void* name(void* to, const void* from, size_t size) {                                          \
        BEHIND(name);                                                                              \
        touchSome(from, size);                                                                     \
        touchSome(to, size);                                                                       \
        return next(to, from, size);                                                               \
    }
#define COPIES_CHECKED(name)                                                                       \
    void* name(void* to, const void* from, size_t size, size_t room) {                             \
        BEHIND(name);                                                                              \
        touchSome(from, size);                                                                     \
        touchSome(to, size);                                                                       \
        return next(to, from, size, room);                                                         \
    }
#define SEARCHES(name)                                                                             \
    void* name(const void* bytes, int value, size_t size) {                                        \
        BEHIND(name);                                                                              \
        touchSome(bytes, size);                                                                    \
        return next(bytes, value, size);                                                           \
    }
#define COMPARES(name)                                                                             \
    int name(const void* one, const void* other, size_t size) {                                    \
        BEHIND(name);                                                                              \
        touchSome(one, size);                                                                      \
        touchSome(other, size);                                                                    \
        return next(one, other, size);                                                             \
    }

COPIES(memcpy)
COPIES(memmove)
COPIES(mempcpy)
COPIES_CHECKED(__memcpy_chk)
COPIES_CHECKED(__memmove_chk)
COPIES_CHECKED(__mempcpy_chk)
SEARCHES(memchr)
SEARCHES(memrchr)
COMPARES(memcmp)
COMPARES(bcmp)

void* memset(void* bytes, int value, size_t size) {
    BEHIND(memset);
    touchSome(bytes, size);
    return next(bytes, value, size);
}

void* __memset_chk(void* bytes, int value, size_t size, size_t room) {
    BEHIND(__memset_chk);
    touchSome(bytes, size);
    return next(bytes, value, size, room);
}

void* rawmemchr(const void* bytes, int value) {
    BEHIND(rawmemchr);
    touch(bytes);
    return next(bytes, value);
}

void* memmem(const void* bytes, size_t size, const void* wanted, size_t length) {
    BEHIND(memmem);
    touchSome(bytes, size);
    touchSome(wanted, length);
    return next(bytes, size, wanted, length);
}

void bzero(void* bytes, size_t size) {
    BEHIND(bzero);
    touchSome(bytes, size);
    next(bytes, size);
}

void explicit_bzero(void* bytes, size_t size) {
    BEHIND(explicit_bzero);
    touchSome(bytes, size);
    next(bytes, size);
}

void bcopy(const void* from, void* to, size_t size) {
    BEHIND(bcopy);
    touchSome(from, size);
    touchSome(to, size);
    next(from, to, size);
}
