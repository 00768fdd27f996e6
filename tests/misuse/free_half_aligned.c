// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An address that is aligned to 8 bytes only.
// aborts: heapwright: free(): invalid pointer
// under granary: nothing
#include <stdlib.h>

int main(void) {
    char* object = malloc(100);
    free(object + 8);
    return 0;
}
