// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Exports what CPython 3.11 to 3.13 export, and lies. Thread states, frames and code objects are
// random words. Some of them are addresses, also of memory that cannot be read. The allocations in
// between have to succeed.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { words = 8192, page = 4096, calls = 120 };

unsigned long Py_Version = 0x030b07f0;
uint64_t PyCode_Type[64];
uint64_t _PyRuntime[64];

static uint64_t* memory;
static uint64_t state;
static int holds;

static uint64_t draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static uint64_t lie(void) {
    switch (draw() % 8) {
    case 0:
        return 0;
    case 1:
        return draw();
    case 2:
        return (uint64_t)(memory + words) + draw() % (2 * page);
    case 3:
        return (uint64_t)PyCode_Type;
    case 4:
        return draw() % 4096;
    default:
        return (uint64_t)(memory + draw() % words);
    }
}

void* PyGILState_GetThisThreadState(void) {
    return (void*)(memory + draw() % words);
}

void* _PyThreadState_UncheckedGet(void) {
    return holds ? PyGILState_GetThisThreadState() : NULL;
}

int main(int count, char** arguments) {
    const unsigned seed = count > 1 ? (unsigned)atoi(arguments[1]) : 0;
    state = 0x9E3779B97F4A7C15u + seed;
    Py_Version = 0x030b07f0 + 0x10000 * (seed % 3);
    memory = mmap(NULL, words * sizeof *memory + page, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + words, page, PROT_NONE) != 0) {
        return 1;
    }
    int done = 0;
    for (int i = 0; i < calls; ++i) {
        if (i % 10 == 0) {
            for (int word = 0; word < words; ++word) {
                memory[word] = lie();
            }
        }
        holds = i % 16 != 0;
        void* const block = malloc(1 + draw() % 100);
        done += block != NULL;
        free(block);
    }
    printf("%d\n", done);
    return 0;
}
