/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The kinds of memory that an option of the command-line calculator selects.
 */
#ifndef HEAPWRIGHT_CALCULATOR_MEMORY_KINDS_H
#define HEAPWRIGHT_CALCULATOR_MEMORY_KINDS_H

#include "pool.h"

struct MemoryKind {
    const char* name;
    /* Prepares the pool. Returns 0 if there is no memory. `release` is null where there are no
     * single frees. */
    int (*open)(struct CalculatorPool*);
    /* Releases everything in the pool. */
    void (*close)(struct CalculatorPool*);
};

/* The kinds of this program, the default first. A null name ends the list. */
extern const struct MemoryKind kMemoryKinds[];

#endif
