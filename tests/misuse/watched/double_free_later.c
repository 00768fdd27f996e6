// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Freed again after a hundred others of its size.
// under debug: heapwright: free(): double free
// under guard: heapwright: free(): double free
// under canary: heapwright: free(): double free
// under quarantine: heapwright: free(): double free
// under granary: nothing
// under granary-hardened: heapwright: free(): double free
#include <stdlib.h>

int main(void) {
    void* object = malloc(24);
    free(object);
    for (int i = 0; i < 100; ++i) {
        free(malloc(24));
    }
    free(object);
    return 0;
}
