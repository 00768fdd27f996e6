// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The address of a static variable.
// aborts: heapwright: free(): invalid pointer
#include <stdlib.h>

static _Alignas(16) char array[64];

int main(void) {
    free(array + 32);
    return 0;
}
