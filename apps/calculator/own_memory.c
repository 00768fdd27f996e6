// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// malloc, and the regions and reaps of heapwright/c.
#include "memory_kinds.h"

#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>
#include <stdlib.h>

static void* plainAllocate(void* context, size_t size) {
    (void)context;
    return malloc(size);
}

static void plainRelease(void* context, void* object) {
    (void)context;
    free(object);
}

static int openPlain(struct CalculatorPool* pool) {
    *pool = (struct CalculatorPool){plainAllocate, plainRelease, NULL};
    return 1;
}

static void closePlain(struct CalculatorPool* pool) {
    (void)pool;
}

static void* regionAllocate(void* region, size_t size) {
    return heapwright_region_alloc(region, size);
}

static int openRegion(struct CalculatorPool* pool) {
    *pool = (struct CalculatorPool){regionAllocate, NULL, heapwright_region_create(NULL)};
    return pool->context != NULL;
}

static void closeRegion(struct CalculatorPool* pool) {
    heapwright_region_destroy(pool->context);
}

static void* reapAllocate(void* reap, size_t size) {
    return heapwright_reap_malloc(reap, size);
}
static void reapRelease(void* reap, void* object) {
    heapwright_reap_free(reap, object);
}

static int openReap(struct CalculatorPool* pool) {
    *pool = (struct CalculatorPool){reapAllocate, reapRelease, heapwright_reap_create(NULL)};
    return pool->context != NULL;
}

static void closeReap(struct CalculatorPool* pool) {
    heapwright_reap_destroy(pool->context);
}

const struct MemoryKind kMemoryKinds[] = {{"malloc", openPlain, closePlain},
                                          {"region", openRegion, closeRegion},
                                          {"reap", openReap, closeReap},
                                          {NULL, NULL, NULL}};
