// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The size of an object that has gone.
// aborts: heapwright: reap_size(): use after clear
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    void* object = heapwright_reap_malloc(reap, 100);
    heapwright_reap_clear(reap);
    return heapwright_reap_size(reap, object) == 0;
    return 0;
}
