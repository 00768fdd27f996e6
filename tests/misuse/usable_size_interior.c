// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The size of what is no object.
// aborts: heapwright: malloc_usable_size(): invalid pointer
// under granary: nothing
#include <malloc.h>
#include <stdlib.h>

int main(void) {
    char* object = calloc(1, 100);
    malloc_usable_size(object + 32);
    return 0;
}
