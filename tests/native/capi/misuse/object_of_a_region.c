// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An object of a region freed to a reap.
// aborts: heapwright: reap_free(): object of a region
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    struct heapwright_region* region = heapwright_region_create(NULL);
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    heapwright_reap_free(reap, heapwright_region_alloc(region, 100));
    return 0;
}
