// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A byte of a freed object is changed; then ten thousand others are freed.
// under debug: heapwright: free(): use after free
// under guard: SIGSEGV
// under canary: nothing
// under quarantine: heapwright: free(): use after free
// under granary: nothing
// under granary-hardened: heapwright: free(): use after free
#include <stdlib.h>

int main(void) {
    volatile char* object = malloc(100);
    free((void*)object);
    object[50] ^= 1;
    for (int i = 0; i < 10000; ++i) {
        free(malloc(1000));
    }
    return 0;
}
