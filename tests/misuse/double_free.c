// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A small object, freed twice in a row.
// aborts: heapwright: free(): double free
// under granary: nothing
#include <stdlib.h>

int main(void) {
    void* object = malloc(24);
    free(object);
    free(object);
    return 0;
}
