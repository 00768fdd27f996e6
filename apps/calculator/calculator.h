/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A calculator for numbers of any precision: the part of bc's language that
 * docs/reference/calculator.md lists, carried out by a small machine. All its memory comes from one
 * pool.
 *
 * One calculator belongs to one thread at a time; it has no state beside its own.
 */
#ifndef HEAPWRIGHT_CALCULATOR_H
#define HEAPWRIGHT_CALCULATOR_H

#include "settings.h"

/* Null if there is no memory. The three are copied; what their contexts point to must live on. */
struct Calculator* calculatorCreate(const struct CalculatorPool* pool,
                                    const struct CalculatorOutput* output,
                                    const struct CalculatorLimits* limits);

/* Carries out a text, line by line; names and their values stay for the next text. A line that is
 * wrong is complained of and left, and the next is read. Answers how many were, counting a
 * program that used up its steps, after which nothing more is carried out. */
unsigned calculatorRun(struct Calculator* calculator, const char* text, size_t length);

/* Whether a text said `quit` or `halt`. */
int calculatorEnded(const struct Calculator* calculator);

/* Releases everything that it took. */
void calculatorDestroy(struct Calculator* calculator);

#endif
