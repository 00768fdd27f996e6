// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An array that was freed is resized.
// aborts: heapwright: realloc(): use of a freed object
// under granary: nothing
#define _GNU_SOURCE
#include <stdlib.h>

int main(void) {
    void* object = malloc(100);
    free(object);
    object = reallocarray(object, 10, 20);
    return 0;
}
