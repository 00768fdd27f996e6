// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One byte is read beyond the end of an object whose size is a multiple of 16.
// under debug: nothing
// under guard: SIGSEGV
// under canary: nothing
// under quarantine: nothing
// under granary: nothing
// under granary-hardened: nothing
#include <stdlib.h>

int main(void) {
    volatile char* object = malloc(48);
    char byte = object[48];
    free((void*)object);
    return byte & 0;
}
