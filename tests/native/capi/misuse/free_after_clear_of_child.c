// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An object freed into the parent after the clearing of the child whose it was.
// aborts: heapwright: reap_free(): free after clear
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    struct heapwright_reap* parent = heapwright_reap_create(NULL);
    struct heapwright_reap* reap = heapwright_reap_create(parent);
    void* object = heapwright_reap_malloc(reap, 100);
    heapwright_reap_clear(reap);
    heapwright_reap_free(parent, object);
    return 0;
}
