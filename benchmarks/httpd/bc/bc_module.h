/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The patched sources of bc include this file, and no other file does. It gives them the memory,
 * the output and the end of a request instead of those of a program. */
#ifndef HEAPWRIGHT_BC_MODULE_H
#define HEAPWRIGHT_BC_MODULE_H

#include <stdio.h>
#include <stdlib.h>

extern FILE* bcOutput;
void* bcAllocate(size_t size);
void bcRelease(void* object);
void bcEnd(int status) __attribute__((noreturn));
int bcPrint(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* The scanner keeps its buffers of the C library, and frees them at the end of a request. */
#ifndef FLEX_SCANNER
#define malloc bcAllocate
#define free bcRelease
#endif
#define exit bcEnd
#define printf bcPrint
#undef putchar
#define putchar(c) putc(c, bcOutput)
#undef stdout
#define stdout bcOutput
#undef stderr
#define stderr bcOutput

#endif
