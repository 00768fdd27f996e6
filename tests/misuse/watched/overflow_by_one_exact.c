// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One byte beyond the end of an object whose size is a multiple of 16.
// under debug: nothing
// under guard: SIGSEGV
// under canary: heapwright: free(): overflow
// under quarantine: nothing
// under granary: nothing
// under granary-hardened: heapwright: free(): overflow
#include <stdlib.h>

int main(void) {
    volatile char* object = malloc(48);
    object[48] ^= 1;
    free((void*)object);
    return 0;
}
