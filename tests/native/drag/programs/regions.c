/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program with regions: one that lives throughout, and in it one for each phase. An object is
 * used when it is made; of each phase one, in the outer region, is used in the phase that follows,
 * too.
 */
#include "use.h"

#include <heapwright/c/region.h>

enum { phases = 10, count = 50, size = 80, kept = 1000 };

static void* made(struct heapwright_region* region, size_t bytes) {
    void* const object = heapwright_region_alloc(region, bytes);
    use(object);
    return object;
}

static void* phase(struct heapwright_region* whole, void* before) {
    struct heapwright_region* const region = heapwright_region_create(whole);
    for (int i = 0; i < count; ++i) {
        made(region, size);
    }
    if (before != NULL) {
        use(before);
    }
    void* const result = made(whole, kept);
    heapwright_region_destroy(region);
    return result;
}

int main(void) {
    struct heapwright_region* const whole = heapwright_region_create(NULL);
    void* result = NULL;
    for (int i = 0; i < phases; ++i) {
        result = phase(whole, result);
    }
    heapwright_region_destroy(whole);
    return 0;
}
