// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "pool.h"

#include <stdint.h>
#include <string.h>

int poolGrow(const struct CalculatorPool* pool, void* elements, size_t used, size_t count,
             size_t size, size_t* room) {
    if (count <= *room - used)
        return 1;
    size_t wanted = *room < 8 ? 8 : *room;
    while (wanted - used < count) {
        if (wanted > SIZE_MAX / 2 / size)
            return 0;
        wanted *= 2;
    }
    void* larger = poolAllocate(pool, wanted * size);
    if (larger == NULL)
        return 0;
    void* old = NULL;
    memcpy(&old, elements, sizeof old); // a pointer of any type
    if (used > 0)
        memcpy(larger, old, used * size);
    poolRelease(pool, old);
    memcpy(elements, &larger, sizeof larger);
    *room = wanted;
    return 1;
}
