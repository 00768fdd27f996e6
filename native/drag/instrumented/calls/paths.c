/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Names of files and variables that the program passes, and results about files.
 */
#define _GNU_SOURCE
#include "calls.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#pragma GCC visibility push(default)

/* Result name(parameters), with a name as argument. */
#define NAMES(Result, name, parameters, arguments)                                                 \
    Result name parameters {                                                                       \
        BEHIND(name);                                                                              \
        Result const result = next arguments;                                                      \
        touch(text);                                                                               \
        return result;                                                                             \
    }

NAMES(int, access, (const char* text, int mode), (text, mode))
NAMES(int, unlink, (const char* text), (text))
NAMES(int, chdir, (const char* text), (text))
NAMES(int, rmdir, (const char* text), (text))
NAMES(int, mkdir, (const char* text, mode_t mode), (text, mode))
NAMES(int, chmod, (const char* text, mode_t mode), (text, mode))
NAMES(int, truncate, (const char* text, off_t size), (text, size))
NAMES(char*, getenv, (const char* text), (text))
NAMES(DIR*, opendir, (const char* text), (text))

/* Two names, or a name and a mode. */
#define TWO_NAMES(Result, name)                                                                    \
    Result name(const char* text, const char* other) {                                             \
        BEHIND(name);                                                                              \
        Result const result = next(text, other);                                                   \
        touch(text);                                                                               \
        touch(other);                                                                              \
        return result;                                                                             \
    }

TWO_NAMES(int, rename)
TWO_NAMES(int, link)
TWO_NAMES(int, symlink)
TWO_NAMES(FILE*, fopen)
TWO_NAMES(FILE*, fopen64)

/* int name(parameters, ...), whose last argument exists if the flags require it. */
#define OPENS(name, parameters, arguments)                                                         \
    int name parameters {                                                                          \
        BEHIND(name);                                                                              \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        const mode_t mode =                                                                        \
            (flags & (O_CREAT | __O_TMPFILE)) != 0 ? (mode_t)va_arg(list, unsigned) : 0;           \
        va_end(list);                                                                              \
        const int result = next arguments;                                                         \
        touch(text);                                                                               \
        return result;                                                                             \
    }

OPENS(open, (const char* text, int flags, ...), (text, flags, mode))
OPENS(open64, (const char* text, int flags, ...), (text, flags, mode))
OPENS(openat, (int folder, const char* text, int flags, ...), (folder, text, flags, mode))
OPENS(openat64, (int folder, const char* text, int flags, ...), (folder, text, flags, mode))

/* Results about a file. */
#define TELLS(name, parameters, arguments, path)                                                   \
    int name parameters {                                                                          \
        BEHIND(name);                                                                              \
        const int result = next arguments;                                                         \
        touch(path);                                                                               \
        touch(told);                                                                               \
        return result;                                                                             \
    }

TELLS(stat, (const char* text, struct stat* told), (text, told), text)
TELLS(stat64, (const char* text, struct stat64* told), (text, told), text)
TELLS(lstat, (const char* text, struct stat* told), (text, told), text)
TELLS(lstat64, (const char* text, struct stat64* told), (text, told), text)
TELLS(fstat, (int file, struct stat* told), (file, told), NULL)
TELLS(fstat64, (int file, struct stat64* told), (file, told), NULL)
TELLS(fstatat, (int folder, const char* text, struct stat* told, int flags),
      (folder, text, told, flags), text)
TELLS(fstatat64, (int folder, const char* text, struct stat64* told, int flags),
      (folder, text, told, flags), text)

ssize_t readlink(const char* text, char* room, size_t size) {
    BEHIND(readlink);
    const ssize_t result = next(text, room, size);
    touch(text);
    touchSome(room, size);
    return result;
}

/* Without a buffer argument, the C library allocates one for the caller. */
char* getcwd(char* text, size_t size) {
    BEHIND(getcwd);
    ON_BEHALF;
    char* const result = next(text, size);
    touch(result);
    return result;
}

char* realpath(const char* path, char* room) {
    BEHIND(realpath);
    ON_BEHALF;
    char* const result = next(path, room);
    touch(path);
    touch(result);
    return result;
}
