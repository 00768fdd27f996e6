// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An address far inside a large object.
// under debug: heapwright: free(): pointer inside an object
// under guard: heapwright: free(): invalid pointer
// under canary: heapwright: free(): underflow
// under quarantine: heapwright: free(): invalid pointer
// under granary: heapwright: free(): invalid pointer
// under granary-hardened: heapwright: free(): invalid pointer
#include <stdlib.h>

int main(void) {
    char* object = calloc(1, 1000000);
    free(object + 524288);
    return 0;
}
