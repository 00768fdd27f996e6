/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The start of a program for glibc 2.28 and newer. The start file of glibc 2.34 leaves the
 * constructors of the program to the C library. An older C library leaves them to the start file.
 */
#include <stddef.h>

typedef void (*Constructor)(int, char**, char**);
extern const Constructor __init_array_start[];
extern const Constructor __init_array_end[];
void _init(void);

#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
#else
#define OLDEST "GLIBC_2.17"
#endif
__asm__(".symver startOfOldGlibc, __libc_start_main@" OLDEST);
int startOfOldGlibc(int (*main)(int, char**, char**), int count, char** words,
                    void (*construct)(int, char**, char**), void (*destruct)(void),
                    void (*unload)(void), void* stack);

static void construct(int count, char** words, char** environment) {
    _init();
    for (const Constructor* each = __init_array_start; each != __init_array_end; ++each) {
        (*each)(count, words, environment);
    }
}

/* The loader runs the destructors. */
static void destruct(void) {}

int __libc_start_main(int (*main)(int, char**, char**), int count, char** words,
                      void (*ignored)(int, char**, char**), void (*ignoredToo)(void),
                      void (*unload)(void), void* stack) {
    (void)ignored;
    (void)ignoredToo;
    return startOfOldGlibc(main, count, words, construct, destruct, unload, stack);
}
