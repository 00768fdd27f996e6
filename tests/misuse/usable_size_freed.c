// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The size of an object that was freed.
// aborts: heapwright: malloc_usable_size(): use of a freed object
// under granary: nothing
#include <malloc.h>
#include <stdlib.h>

int main(void) {
    void* object = malloc(100);
    free(object);
    malloc_usable_size(object);
    return 0;
}
