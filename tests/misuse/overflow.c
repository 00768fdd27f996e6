// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The object before this one was written over its end.
// aborts: heapwright: free(): invalid pointer
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char* before = malloc(40);
    char* object = malloc(40);
    size_t room = malloc_usable_size(before);
    // Only neighbours can be hurt; ours are, for these are the first two of their size.
    memset(before, 'A', object == before + room + 8 ? room + 8 : 0);
    free(object);
    return 0;
}
