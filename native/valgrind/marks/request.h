/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Asking valgrind for something from inside the program that it runs, on x86-64: a sequence of
 * instructions that changes nothing, and that valgrind knows as a request whose words lie where rax
 * points. Written from the description of that interface, so that nothing of valgrind is needed to
 * build. The requests: are we run by valgrind (0x1001); print a line into its log (0x1403), and
 * behind it the chain of calls that led there (0x1404).
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

/* The same with a format that is always the same and takes three words. A line of this kind costs
 * as much as it has instructions, each of which is traced, so all but the words is prepared once:
 * the request, and the list of arguments as the x86-64 ABI lays it out. */
struct Print {
    uintptr_t request[6];
    struct {
        uint32_t general; /* 48 and 304: no arguments are left in registers */
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

/* Each print is followed by the chain of calls. */
static inline void withCalls(struct Print* print) {
    print->request[0] = 0x1404;
}

static inline void print(struct Print* print, uintptr_t first, uintptr_t second, uintptr_t third) {
    print->words[0] = first;
    print->words[1] = second;
    print->words[2] = third;
    print->list.memory = print->words; /* valgrind has moved it on */
    requestOf(print->request);
}

#endif
