// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Freed twice.
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
    free(object);
    return 0;
}
