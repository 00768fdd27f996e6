// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// use MIB MS ENDING: Touches MIB MiB, uses MS milliseconds of CPU time, and ends in the way ENDING.
// The ways are exit, _exit, _Exit, quick_exit, return, raw (behind the C library's back), or a
// signal's number.
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long usedMilliseconds(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

// Beyond what the process has used before: the clock has run since it was forked.
static void burn(long milliseconds) {
    const long end = usedMilliseconds() + milliseconds;
    while (milliseconds > 0 && usedMilliseconds() <= end) {
    }
}

int main(int count, char** arguments) {
    if (count != 4) {
        return 64;
    }
    const size_t size = (size_t)atol(arguments[1]) << 20;
    char* const bytes = malloc(size + 1);
    if (bytes == NULL) {
        return 65;
    }
    memset(bytes, 1, size + 1);
    burn(atol(arguments[2]));
    const char* const ending = arguments[3];
    const int status = bytes[size] - 1;
    if (strcmp(ending, "exit") == 0) {
        exit(status);
    }
    if (strcmp(ending, "_exit") == 0) {
        _exit(status);
    }
    if (strcmp(ending, "_Exit") == 0) {
        _Exit(status);
    }
    if (strcmp(ending, "quick_exit") == 0) {
        quick_exit(status);
    }
    if (strcmp(ending, "raw") == 0) {
        syscall(SYS_exit_group, status);
    }
    if (strcmp(ending, "return") != 0) {
        raise(atoi(ending));
    }
    return status;
}
