// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A byte written to a freed object, found at the end of the program.
// aborts: heapwright: free(): use after free
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    char* object = heapwright_reap_malloc(reap, 100);
    heapwright_reap_free(reap, object);
    object[50] = 1;
    return 0;
}
