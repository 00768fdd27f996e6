// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A destroyed region cleared.
// aborts: heapwright: region_clear(): destroyed region
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    struct heapwright_region* region = heapwright_region_create(NULL);
    heapwright_region_destroy(region);
    heapwright_region_clear(region);
    return 0;
}
