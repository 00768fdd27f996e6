// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An address inside an object is resized.
// aborts: heapwright: realloc(): invalid pointer
// under granary: nothing
#include <stdlib.h>

int main(void) {
    char* object = calloc(1, 100);
    object = realloc(object + 16, 200);
    return 0;
}
