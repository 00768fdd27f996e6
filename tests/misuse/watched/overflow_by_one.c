// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One byte beyond the end, where the object's block has some left.
// under debug: nothing
// under guard: heapwright: free(): overflow
// under canary: heapwright: free(): overflow
// under quarantine: nothing
// under granary: nothing
// under granary-hardened: heapwright: free(): overflow
#include <stdlib.h>

int main(void) {
    volatile char* object = malloc(40);
    object[40] ^= 1;
    free((void*)object);
    return 0;
}
