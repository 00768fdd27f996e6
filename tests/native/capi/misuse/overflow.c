// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A byte written behind an object.
// aborts: heapwright: reap_free(): overflow
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    char* object = heapwright_reap_malloc(reap, 100);
    object[100] = 1;
    heapwright_reap_free(reap, object);
    return 0;
}
