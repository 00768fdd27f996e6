// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A program of regions that knows nothing of the emulator: says how its memory was had.
#include <heapwright/c/region.h>

#include "check.h"

#include <string.h>

int main(void) {
    struct heapwright_region* region = heapwright_region_create(NULL);
    for (int i = 0; i < 10; ++i)
        memset(heapwright_region_alloc(region, 100), i, 100);
    puts(heapwright_region_memory_used(region) >= 8000 ? "in chunks" : "one by one");
    heapwright_region_destroy(region);
    return 0;
}
