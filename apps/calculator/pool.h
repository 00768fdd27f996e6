/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the calculator has its memory from: all of it, and from nowhere else. A pool that frees
 * everything at once leaves `release` null. Then the calculator frees nothing by itself, and its
 * used memory stays until the pool ends. That is the whole difference between the two ways whose
 * memory docs/reference/calculator.md compares.
 */
#ifndef HEAPWRIGHT_CALCULATOR_POOL_H
#define HEAPWRIGHT_CALCULATOR_POOL_H

#include <stddef.h>

struct CalculatorPool {
    /* Memory for anything, or null. */
    void* (*allocate)(void* context, size_t size);
    /* Takes one object back. Null: objects stay until all of them go. */
    void (*release)(void* context, void* object);
    void* context;
};

static inline void* poolAllocate(const struct CalculatorPool* pool, size_t size) {
    return pool->allocate(pool->context, size);
}

static inline void poolRelease(const struct CalculatorPool* pool, void* object) {
    if (pool->release != NULL && object != NULL)
        pool->release(pool->context, object);
}

/* Room for `count` elements of `size` bytes more than the `used` first, which move. Answers whether
 * there was memory; else nothing has changed. Room doubles, so that growing costs little. */
int poolGrow(const struct CalculatorPool* pool, void* elements, size_t used, size_t count,
             size_t size, size_t* room);

#endif
