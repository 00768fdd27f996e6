// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The word before the object was overwritten.
// aborts: heapwright: free(): invalid pointer
// under hoard: nothing
// under hoard-3.8: nothing
// under lkmalloc: nothing
// under thresholds: nothing
// under miser: nothing
// under granary: nothing
// under granary-hardened: nothing
// under slab: nothing
// under slob: nothing
// under slub: nothing
// under slqb: nothing
#include <stdlib.h>
#include <string.h>

int main(void) {
    char* object = malloc(40);
    memset(object - 8, 'A', 8);
    free(object);
    return 0;
}
