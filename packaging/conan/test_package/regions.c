/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A region of the C library. */
#include <heapwright/c/region.h>

int main(void) {
    struct heapwright_region* region = heapwright_region_create(NULL);
    const char* text = region != NULL ? heapwright_region_strdup(region, "text") : NULL;
    const int served = text != NULL && heapwright_region_owns(region, text);
    heapwright_region_destroy(region);
    return served ? 0 : 1;
}
