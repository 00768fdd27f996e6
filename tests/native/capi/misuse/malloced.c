// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An object of malloc freed to a reap.
// aborts: heapwright: reap_free(): invalid pointer
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    heapwright_reap_free(reap, malloc(100));
    return 0;
}
