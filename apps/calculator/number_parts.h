/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Helpers of number.c and quotient.c: creation, scaling and the full product.
 */
#ifndef HEAPWRIGHT_CALCULATOR_NUMBER_PARTS_H
#define HEAPWRIGHT_CALCULATOR_NUMBER_PARTS_H

#include "number_types.h"

static const char kNoMemory[] = "out of memory";

/* Null, for this reason. */
struct Number* numberFail(struct Arithmetic* arithmetic, const char* why);

/* A number whose limbs are still to be written. */
struct Number* numberMake(struct Arithmetic* arithmetic, size_t length, size_t scale);

/* The number when its limbs are written: trimmed, with its sign. */
struct Number* numberDone(struct Number* number, int negative);

/* The same value at another scale; digits that have no place are cut off. */
struct Number* numberRescaled(struct Arithmetic* arithmetic, const struct Number* a, size_t scale);

/* The number itself, or in its place one that is cut off to `scale`; null stays null. */
struct Number* numberCut(struct Arithmetic* arithmetic, struct Number* number, size_t scale);

/* a * b with all its digits. */
struct Number* numberProduct(struct Arithmetic* arithmetic, const struct Number* a,
                             const struct Number* b);

#endif
