// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A byte written behind an object of a region, found when that goes.
// aborts: heapwright: region_destroy(): overflow
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>

#include <stdlib.h>

int main(void) {
    struct heapwright_region* region = heapwright_region_create(NULL);
    char* object = heapwright_region_alloc(region, 100);
    object[101] = 1;
    heapwright_region_destroy(region);
    return 0;
}
