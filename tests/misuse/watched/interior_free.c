// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An address inside an object.
// under debug: heapwright: free(): pointer inside an object
// under guard: heapwright: free(): invalid pointer
// under canary: heapwright: free(): underflow
// under quarantine: heapwright: free(): invalid pointer
// under granary: nothing
// under granary-hardened: heapwright: free(): invalid pointer
#include <stdlib.h>

int main(void) {
    char* object = calloc(1, 100);
    free(object + 16);
    return 0;
}
