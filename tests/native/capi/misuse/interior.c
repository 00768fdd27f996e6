// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An address inside an object.
// aborts: heapwright: reap_free(): pointer inside an object
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    char* object = heapwright_reap_malloc(reap, 100);
    heapwright_reap_free(reap, object + 16);
    return 0;
}
