// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An address on the stack.
// aborts: heapwright: free(): invalid pointer
#include <stdlib.h>

int main(void) {
    _Alignas(16) char array[64] = {0};
    free(array + 32);
    return 0;
}
