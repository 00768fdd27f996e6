// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A large object is freed twice; another was freed in between.
// under debug: heapwright: free(): double free
// under guard: heapwright: free(): double free
// under canary: heapwright: free(): double free
// under quarantine: heapwright: free(): double free
// under granary: heapwright: free(): double free
// under granary-hardened: heapwright: free(): double free
#include <stdlib.h>

int main(void) {
    void* object = malloc(100000);
    void* other = malloc(100000);
    free(object);
    free(other);
    free(object);
    return 0;
}
