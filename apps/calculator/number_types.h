/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A number and its reference count, and the state that all operations share.
 */
#ifndef HEAPWRIGHT_CALCULATOR_NUMBER_TYPES_H
#define HEAPWRIGHT_CALCULATOR_NUMBER_TYPES_H

#include "limbs.h"
#include "pool.h"

struct Number {
    uint32_t references;
    uint32_t negative; /* never of zero */
    uint32_t scale;    /* the value is the limbs' divided by 10^scale */
    uint32_t length;   /* of the limbs, trimmed */
    Limb limbs[];
};

/* What all operations need. */
struct Arithmetic {
    const struct CalculatorPool* pool;
    size_t mostDigits;   /* what is longer is refused */
    uint64_t work;       /* grows with the limbs that were gone through */
    const char* failure; /* why the last operation that answered null did so */
};

struct Number* numberShare(struct Number* number);
void numberDrop(struct Arithmetic* arithmetic, struct Number* number);

#endif
