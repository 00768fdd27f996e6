// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An object freed to the parent of its reap.
// aborts: heapwright: reap_free(): object of another reap
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    struct heapwright_reap* parent = heapwright_reap_create(NULL);
    struct heapwright_reap* reap = heapwright_reap_create(parent);
    heapwright_reap_free(parent, heapwright_reap_malloc(reap, 100));
    return 0;
}
