// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// realloc to zero bytes has freed it already.
// aborts: heapwright: free(): double free
// under granary: nothing
#include <stdlib.h>

int main(void) {
    void* object = malloc(100);
    if (realloc(object, 0) == NULL) {
        free(object);
    }
    return 0;
}
