// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The word before the object was overwritten.
// aborts: heapwright: free(): invalid pointer
// under hoard: nothing
#include <stdlib.h>
#include <string.h>

int main(void) {
    char* object = malloc(40);
    memset(object - 8, 'A', 8);
    free(object);
    return 0;
}
