/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Routines on strings, the forms that a fortified program calls, and numbers in strings.
 */
#define _GNU_SOURCE
#include "calls.h"

#include <string.h>
#include <strings.h>

/* Declared here, because stdlib.h redefines some of them. */
int atoi(const char*);
long atol(const char*);
long long atoll(const char*);
double atof(const char*);
long strtol(const char*, char**, int);
long long strtoll(const char*, char**, int);
unsigned long strtoul(const char*, char**, int);
unsigned long long strtoull(const char*, char**, int);
float strtof(const char*, char**);
double strtod(const char*, char**);
long double strtold(const char*, char**);
char* __strcpy_chk(char* to, const char* from, size_t room);
char* __stpcpy_chk(char* to, const char* from, size_t room);
char* __strcat_chk(char* to, const char* from, size_t room);
char* __strncpy_chk(char* to, const char* from, size_t size, size_t room);
char* __stpncpy_chk(char* to, const char* from, size_t size, size_t room);
char* __strncat_chk(char* to, const char* from, size_t size, size_t room);

#pragma GCC visibility push(default)

/* Routines with one string, with two, and with two and a number, and their results. */
#define ONE(Result, name)                                                                          \
    Result name(const char* text) {                                                                \
        BEHIND(name);                                                                              \
        touch(text);                                                                               \
        return next(text);                                                                         \
    }
#define SEEKING(name)                                                                              \
    char* name(const char* text, int wanted) {                                                     \
        BEHIND(name);                                                                              \
        touch(text);                                                                               \
        return next(text, wanted);                                                                 \
    }
#define TWO(Result, name)                                                                          \
    Result name(const char* text, const char* other) {                                             \
        BEHIND(name);                                                                              \
        touch(text);                                                                               \
        touch(other);                                                                              \
        return next(text, other);                                                                  \
    }
#define TWO_SOME(Result, name)                                                                     \
    Result name(const char* text, const char* other, size_t size) {                                \
        BEHIND(name);                                                                              \
        touchSome(text, size);                                                                     \
        touchSome(other, size);                                                                    \
        return next(text, other, size);                                                            \
    }
#define INTO(name)                                                                                 \
    char* name(char* to, const char* from) {                                                       \
        BEHIND(name);                                                                              \
        touch(from);                                                                               \
        touch(to);                                                                                 \
        return next(to, from);                                                                     \
    }
#define INTO_SOME(name) /* the number is a size, or the room in the fortified forms */             \
    char* name(char* to, const char* from, size_t size) {                                          \
        BEHIND(name);                                                                              \
        touchSome(from, size);                                                                     \
        touchSome(to, size);                                                                       \
        return next(to, from, size);                                                               \
    }
#define INTO_SOME_CHECKED(name)                                                                    \
    char* name(char* to, const char* from, size_t size, size_t room) {                             \
        BEHIND(name);                                                                              \
        touchSome(from, size);                                                                     \
        touchSome(to, size);                                                                       \
        return next(to, from, size, room);                                                         \
    }
#define WHOLE_NUMBER(Result, name)                                                                 \
    Result name(const char* text, char** end, int base) {                                          \
        BEHIND(name);                                                                              \
        touch(text);                                                                               \
        touch(end);                                                                                \
        return next(text, end, base);                                                              \
    }
#define REAL_NUMBER(Result, name)                                                                  \
    Result name(const char* text, char** end) {                                                    \
        BEHIND(name);                                                                              \
        touch(text);                                                                               \
        touch(end);                                                                                \
        return next(text, end);                                                                    \
    }

ONE(size_t, strlen)
ONE(int, atoi)
ONE(long, atol)
ONE(long long, atoll)
ONE(double, atof)
SEEKING(strchr)
SEEKING(strrchr)
SEEKING(strchrnul)
SEEKING(index)
SEEKING(rindex)
TWO(int, strcmp)
TWO(int, strcasecmp)
TWO(int, strcoll)
TWO(char*, strstr)
TWO(char*, strcasestr)
TWO(size_t, strspn)
TWO(size_t, strcspn)
TWO(char*, strpbrk)
TWO_SOME(int, strncmp)
TWO_SOME(int, strncasecmp)
INTO(strcpy)
INTO(stpcpy)
INTO(strcat)
INTO_SOME(strncpy)
INTO_SOME(stpncpy)
INTO_SOME(strncat)
INTO_SOME(__strcpy_chk)
INTO_SOME(__stpcpy_chk)
INTO_SOME(__strcat_chk)
INTO_SOME_CHECKED(__strncpy_chk)
INTO_SOME_CHECKED(__stpncpy_chk)
INTO_SOME_CHECKED(__strncat_chk)
WHOLE_NUMBER(long, strtol)
WHOLE_NUMBER(long long, strtoll)
WHOLE_NUMBER(unsigned long, strtoul)
WHOLE_NUMBER(unsigned long long, strtoull)
REAL_NUMBER(float, strtof)
REAL_NUMBER(double, strtod)
REAL_NUMBER(long double, strtold)

size_t strnlen(const char* text, size_t size) {
    BEHIND(strnlen);
    touchSome(text, size);
    return next(text, size);
}

size_t strxfrm(char* to, const char* from, size_t size) {
    BEHIND(strxfrm);
    touch(from);
    touchSome(to, size);
    return next(to, from, size);
}

char* strtok(char* text, const char* separators) {
    BEHIND(strtok);
    touch(separators);
    char* const found = next(text, separators);
    touch(found); // it may lie in a text of an earlier call
    return found;
}

char* strtok_r(char* text, const char* separators, char** rest) {
    BEHIND(strtok_r);
    touch(separators);
    char* const found = next(text, separators, rest);
    touch(found);
    touch(rest);
    return found;
}

char* strsep(char** text, const char* separators) {
    BEHIND(strsep);
    touch(separators);
    touch(text);
    touch(*text);
    return next(text, separators);
}

/* The C library allocates the copies for the caller. */
char* strdup(const char* text) {
    BEHIND(strdup);
    ON_BEHALF;
    char* const copy = next(text);
    touch(text);
    touch(copy);
    return copy;
}

char* strndup(const char* text, size_t size) {
    BEHIND(strndup);
    ON_BEHALF;
    char* const copy = next(text, size);
    touchSome(text, size);
    touch(copy);
    return copy;
}
