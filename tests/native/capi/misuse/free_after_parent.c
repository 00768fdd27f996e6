// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An object freed into a reap that went with its parent.
// aborts: heapwright: reap_free(): reap destroyed with its parent
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    struct heapwright_reap* parent = heapwright_reap_create(NULL);
    struct heapwright_reap* reap = heapwright_reap_create(heapwright_reap_create(parent));
    void* object = heapwright_reap_malloc(reap, 100);
    heapwright_reap_destroy(parent);
    heapwright_reap_free(reap, object);
    return 0;
}
