// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An aligned object, freed twice.
// aborts: heapwright: free(): double free
// under granary: nothing
#include <stdlib.h>

int main(void) {
    void* object = aligned_alloc(1024, 100);
    free(object);
    free(object);
    return 0;
}
