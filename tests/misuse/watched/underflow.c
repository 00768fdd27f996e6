// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The word before the object is overwritten.
// under debug: nothing
// under guard: heapwright: free(): underflow
// under canary: heapwright: free(): underflow
// under quarantine: heapwright: free(): invalid pointer
// under granary: nothing
// under granary-hardened: nothing
#include <stdlib.h>
#include <string.h>

int main(void) {
    char* object = malloc(40);
    memset(object - 8, 'A', 8);
    free(object);
    return 0;
}
