/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Requests to valgrind from inside the program that it runs, on x86-64. A request is a sequence of
 * instructions without effect, which valgrind recognises, with its words at rax. Written from the
 * description of that interface, so that the build does not need valgrind. The requests: test
 * whether valgrind runs the program (0x1001); print a line into its log (0x1403), and the chain of
 * calls after it (0x1404).
 */
#ifndef HEAPWRIGHT_VALGRIND_REQUEST_H
#define HEAPWRIGHT_VALGRIND_REQUEST_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#if !defined(__x86_64__)
#error "the marks are written for x86-64"
#endif

static inline uintptr_t requestOf(const uintptr_t* words) {
    uintptr_t result;
    __asm__ volatile("rolq $3, %%rdi\n\t"
                     "rolq $13, %%rdi\n\t"
                     "rolq $61, %%rdi\n\t"
                     "rolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "=d"(result)
                     : "a"(words), "0"((uintptr_t)0)
                     : "cc", "memory");
    return result;
}

static inline bool underValgrind(void) {
    const uintptr_t words[6] = {0x1001, 0, 0, 0, 0, 0};
    return requestOf(words) != 0;
}

__attribute__((format(printf, 1, 2))) static void say(const char* format, ...) {
    va_list values;
    va_start(values, format);
    const uintptr_t words[6] = {0x1403, (uintptr_t)format, (uintptr_t)&values, 0, 0, 0};
    requestOf(words);
    va_end(values);
}

/* The same with a constant format and three words. Each instruction of a print is traced and so
 * costs time. Everything except the words is therefore prepared once: the request, and the
 * argument list as the x86-64 ABI defines it. */
struct Print {
    uintptr_t request[6];
    struct {
        uint32_t general; /* 48 and 304: no arguments are in registers */
        uint32_t floating;
        const uintptr_t* memory;
        const void* registers;
    } list;
    uintptr_t words[3];
};

static inline void preparePrint(struct Print* print, const char* format) {
    print->request[0] = 0x1403;
    print->request[1] = (uintptr_t)format;
    print->request[2] = (uintptr_t)&print->list;
    print->list.general = 48;
    print->list.floating = 304;
}

/* Makes each print report the chain of calls. */
static inline void withCalls(struct Print* print) {
    print->request[0] = 0x1404;
}

static inline void print(struct Print* print, uintptr_t first, uintptr_t second, uintptr_t third) {
    print->words[0] = first;
    print->words[1] = second;
    print->words[2] = third;
    print->list.memory = print->words; /* valgrind has advanced it */
    requestOf(print->request);
}

#endif
