// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The address of a static variable. It is aligned, since granary looks at the start of a pointer's
// 32 KiB first: where nothing is mapped there, a fault ends the program.
// aborts: heapwright: free(): invalid pointer
#include <stdlib.h>

static _Alignas(32768) char array[64];

int main(void) {
    free(array + 32);
    return 0;
}
