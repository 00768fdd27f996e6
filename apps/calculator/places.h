/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The kinds of memory that the command-line calculator can be told to use.
 */
#ifndef HEAPWRIGHT_CALCULATOR_PLACES_H
#define HEAPWRIGHT_CALCULATOR_PLACES_H

#include "pool.h"

struct Place {
    const char* name;
    /* Makes the pool ready; answers whether there was memory. `release` is null where there are no
     * single frees. */
    int (*open)(struct CalculatorPool*);
    /* Everything in it goes. */
    void (*close)(struct CalculatorPool*);
};

/* Those that this program has, the usual one first; a null name ends them. */
extern const struct Place kPlaces[];

#endif
