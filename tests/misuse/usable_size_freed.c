// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The size of an object that was freed.
// aborts: heapwright: malloc_usable_size(): use of a freed object
#include <malloc.h>
#include <stdlib.h>

int main(void) {
    void* object = malloc(100);
    free(object);
    return (int)malloc_usable_size(object);
}
