// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A file of mistakes is one program, in C or C++. It makes the mistake that its argument names, and
// allocates nothing before.
#ifndef HEAPWRIGHT_SUPPORT_MISTAKES_H
#define HEAPWRIGHT_SUPPORT_MISTAKES_H

#include <string.h>

struct mistake {
    const char* name;
    void (*make)(void);
};

static struct mistake mistakes[60];
static int mistakeCount;

#define MISTAKE(name)                                                                              \
    static void mistake_##name(void);                                                              \
    __attribute__((constructor)) static void enter_##name(void) {                                  \
        struct mistake entry = {#name, mistake_##name};                                            \
        mistakes[mistakeCount++] = entry;                                                          \
    }                                                                                              \
    static void mistake_##name(void)

int main(int count, char** words) {
    for (int i = 0; count == 2 && i < mistakeCount; ++i) {
        if (strcmp(words[1], mistakes[i].name) == 0) {
            mistakes[i].make();
            return 0;
        }
    }
    return 2;
}

#endif
