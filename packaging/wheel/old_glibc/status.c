/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The functions of the family stat, which glibc 2.32 and older export under other names. */
#define _GNU_SOURCE
#include <sys/stat.h>

/* The version of `struct stat` that these functions expect. */
#if defined(__x86_64__)
#define STAT_VERSION 1
#else
#define STAT_VERSION 0
#endif
int __xstat(int version, const char* path, struct stat* status);
int __lxstat(int version, const char* path, struct stat* status);
int __fxstat(int version, int file, struct stat* status);
int __fxstatat(int version, int folder, const char* path, struct stat* status, int flags);

int stat(const char* path, struct stat* status) {
    return __xstat(STAT_VERSION, path, status);
}
int lstat(const char* path, struct stat* status) {
    return __lxstat(STAT_VERSION, path, status);
}
int fstat(int file, struct stat* status) {
    return __fxstat(STAT_VERSION, file, status);
}
int fstatat(int folder, const char* path, struct stat* status, int flags) {
    return __fxstatat(STAT_VERSION, folder, path, status, flags);
}

/* On machines with 64 bits this is the same structure. */
int fstat64(int file, struct stat64* status) {
    return __fxstat(STAT_VERSION, file, (struct stat*)status);
}
