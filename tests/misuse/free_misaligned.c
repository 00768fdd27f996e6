// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An address that no object can have.
// aborts: heapwright: free(): invalid pointer
// under granary: nothing
#include <stdlib.h>

int main(void) {
    char* object = malloc(100);
    free(object + 1);
    return 0;
}
