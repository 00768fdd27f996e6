// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Freed again when its block has long been merged with its neighbours.
// aborts: heapwright: free(): double free
// under granary: nothing
#include <stdlib.h>

int main(void) {
    void* before = malloc(2000);
    void* object = malloc(2000);
    void* after = malloc(2000);
    free(before);
    free(after);
    free(object);
    free(object);
    return 0;
}
