// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Byte after byte behind an object is written, beyond what a superblock takes.
// under debug: nothing
// under guard: SIGSEGV
// under canary: nothing
// under quarantine: nothing
// under granary: nothing
// under granary-hardened: SIGSEGV
#include <stdlib.h>

int main(void) {
    volatile char* object = malloc(100);
    for (int i = 0; i < 40000; ++i) {
        object[i] = 1;
    }
    return 0;
}
