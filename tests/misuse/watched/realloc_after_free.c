// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An object that was freed is resized.
// under debug: heapwright: realloc(): use of a freed object
// under guard: heapwright: realloc(): use of a freed object
// under canary: heapwright: realloc(): use of a freed object
// under quarantine: heapwright: realloc(): use of a freed object
// under granary: nothing
// under granary-hardened: heapwright: realloc(): use of a freed object
#include <stdlib.h>

int main(void) {
    void* object = malloc(100);
    free(object);
    object = realloc(object, 200);
    return 0;
}
