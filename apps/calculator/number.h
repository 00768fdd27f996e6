/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Decimal numbers of any length. The scale is the number of digits after the point. A number never
 * changes. Each keeper of a number has a reference to it. The last one to drop it frees its memory
 * into the pool. Every operation makes a new number.
 *
 * An operation that cannot be carried out answers null and leaves the reason in `failure`. The
 * scales of results are those of bc.
 */
#ifndef HEAPWRIGHT_CALCULATOR_NUMBER_H
#define HEAPWRIGHT_CALCULATOR_NUMBER_H

#include "number_types.h"

struct Number* numberFromInteger(struct Arithmetic* arithmetic, uint64_t value);
/* Digits with a point among them or not. As in bc, a letter A to F is a digit: its value if it is
 * alone, 9 in a longer number. */
struct Number* numberFromText(struct Arithmetic* arithmetic, const char* text, size_t length);
/* As bc writes it: no zero before the point. The text is the pool's; `length` bytes, no more. */
char* numberText(struct Arithmetic* arithmetic, const struct Number* number, size_t* length);

struct Number* numberAdd(struct Arithmetic*, const struct Number* a, const struct Number* b);
struct Number* numberSubtract(struct Arithmetic*, const struct Number* a, const struct Number* b);
struct Number* numberMultiply(struct Arithmetic*, const struct Number* a, const struct Number* b,
                              size_t scale);
struct Number* numberDivide(struct Arithmetic*, const struct Number* a, const struct Number* b,
                            size_t scale);
struct Number* numberModulo(struct Arithmetic*, const struct Number* a, const struct Number* b,
                            size_t scale);
struct Number* numberPower(struct Arithmetic*, const struct Number* a, const struct Number* b,
                           size_t scale);
struct Number* numberRoot(struct Arithmetic*, const struct Number* a, size_t scale);
struct Number* numberNegate(struct Arithmetic*, const struct Number* a);

/* -1, 0 or 1 into `order`; answers whether there was memory to find out. */
int numberCompare(struct Arithmetic*, const struct Number* a, const struct Number* b, int* order);

/* The digits that `length(x)` of bc counts. */
size_t numberDigits(const struct Number* number);

/* The value without its fraction; `most` + 1 if it is more than `most`. The sign is left out. */
uint64_t numberWhole(const struct Number* number, uint64_t most);

#endif
