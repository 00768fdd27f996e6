// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An object that was freed is resized.
// aborts: heapwright: realloc(): use of a freed object
// under granary: nothing
#include <stdlib.h>

int main(void) {
    void* object = malloc(100);
    free(object);
    object = realloc(object, 200);
    return 0;
}
