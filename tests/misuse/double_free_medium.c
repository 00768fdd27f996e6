// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A medium object, freed twice.
// aborts: heapwright: free(): double free
// under hoard: SIGSEGV
// under granary: nothing
#include <stdlib.h>

int main(void) {
    void* object = malloc(5000);
    free(object);
    free(object);
    return 0;
}
