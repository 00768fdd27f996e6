/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whole numbers of any length without a sign: limbs of nine decimal digits, the lowest first. A
 * length counts no zeros at the top, unless the comment states otherwise. Zero has the length 0.
 * Nothing here requests memory. The caller provides the place of the result. Each function states
 * the maximum length of the result. Decimal limbs, because scales are counted in decimal digits and
 * everything is printed.
 */
#ifndef HEAPWRIGHT_CALCULATOR_LIMBS_H
#define HEAPWRIGHT_CALCULATOR_LIMBS_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t Limb;

enum { kLimbDigits = 9, kLimbBase = 1000000000 };

/* The length without zeros at the top. */
size_t limbsTrimmed(const Limb* a, size_t length);

/* How many decimal digits the number has; 0 for zero. */
size_t limbsDigits(const Limb* a, size_t length);

/* Less, equal, greater: -1, 0, 1. */
int limbsCompare(const Limb* a, size_t aLength, const Limb* b, size_t bLength);

/* a + b into aLength + 1 limbs; a is the longer. */
void limbsAdd(Limb* sum, const Limb* a, size_t aLength, const Limb* b, size_t bLength);

/* a - b into aLength limbs; a is not less than b. */
void limbsSubtract(Limb* difference, const Limb* a, size_t aLength, const Limb* b, size_t bLength);

/* a * b into aLength + bLength limbs, which lie elsewhere. */
void limbsMultiply(Limb* product, const Limb* a, size_t aLength, const Limb* b, size_t bLength);

/* a * factor into aLength + 1 limbs, which may be a itself. */
void limbsTimes(Limb* product, const Limb* a, size_t aLength, Limb factor);

/* a / divisor into aLength limbs, which may be a itself; answers the rest. */
Limb limbsOver(Limb* quotient, const Limb* a, size_t aLength, Limb divisor);

/* a / b into aLength - bLength + 1 limbs; b is not zero, and not longer than a. `work` is room for
 * aLength + bLength + 1 limbs, and what is left in it is of no use. */
void limbsDivide(Limb* quotient, const Limb* a, size_t aLength, const Limb* b, size_t bLength,
                 Limb* work);

/* a * 10^digits into aLength + digits / 9 + 1 limbs, which lie elsewhere. */
void limbsShiftUp(Limb* result, const Limb* a, size_t aLength, size_t digits);

/* a / 10^digits into aLength - digits / 9 limbs, or none if that is less. */
void limbsShiftDown(Limb* result, const Limb* a, size_t aLength, size_t digits);

#endif
