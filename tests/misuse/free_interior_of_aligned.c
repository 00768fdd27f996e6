// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An address inside an aligned object.
// aborts: heapwright: free(): invalid pointer
// under granary: nothing
#include <stdlib.h>
#include <string.h>

int main(void) {
    char* object = aligned_alloc(4096, 500);
    memset(object, 0, 500);
    free(object + 64);
    return 0;
}
