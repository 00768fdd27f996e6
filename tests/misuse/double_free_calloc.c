// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An object of calloc, freed twice, the second time by cfree.
// aborts: heapwright: free(): double free
// under granary: nothing
#include <stdlib.h>

// Weak, since not every C library has it to link with.
__attribute__((weak)) void cfree(void* object);

int main(void) {
    void* object = calloc(10, 10);
    free(object);
    cfree(object);
    return 0;
}
