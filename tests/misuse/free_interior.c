// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An address inside an object.
// aborts: heapwright: free(): invalid pointer
// under granary: nothing
#include <stdlib.h>

int main(void) {
    char* object = calloc(1, 100);
    free(object + 16);
    return 0;
}
