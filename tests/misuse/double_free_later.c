// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Freed again after others were.
// aborts: heapwright: free(): double free
// under granary: nothing
#include <stdlib.h>

int main(void) {
    void* object = malloc(24);
    void* other = malloc(24);
    free(object);
    free(other);
    free(malloc(500));
    free(object);
    return 0;
}
