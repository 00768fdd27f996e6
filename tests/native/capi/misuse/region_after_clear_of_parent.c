// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A region used after the one that it was in was cleared.
// aborts: heapwright: region_alloc(): region destroyed with its parent
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    struct heapwright_region* parent = heapwright_region_create(NULL);
    struct heapwright_region* region = heapwright_region_create(parent);
    heapwright_region_clear(parent);
    return heapwright_region_alloc(region, 100) == NULL;
    return 0;
}
