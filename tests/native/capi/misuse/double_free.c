// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An object freed twice, with others in between.
// aborts: heapwright: reap_free(): double free
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    void* object = heapwright_reap_malloc(reap, 100);
    heapwright_reap_free(reap, object);
    for (int i = 0; i < 1000; ++i)
        heapwright_reap_free(reap, heapwright_reap_malloc(reap, 100));
    heapwright_reap_free(reap, object);
    return 0;
}
