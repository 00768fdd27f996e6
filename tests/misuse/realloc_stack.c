// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An address on the stack is resized.
// aborts: heapwright: realloc(): invalid pointer
#include <stdlib.h>

int main(void) {
    _Alignas(16) char array[64] = {0};
    return realloc(array + 32, 100) == NULL;
}
