/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Small functions that glibc 2.28 lacks. */
#define _GNU_SOURCE
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

pid_t gettid(void) {
    return (pid_t)syscall(SYS_gettid);
}

/* strerror also translates, but the programs never choose a language. */
const char* strerrordesc_np(int error) {
    return strerror(error);
}

/* For random_device of the static libstdc++. */
uint32_t arc4random(void) {
    uint32_t value = 0;
    while (getrandom(&value, sizeof value, 0) != sizeof value) {
    }
    return value;
}
