/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A calculator for numbers of any precision: the part of bc's language that docs/calculator.md
 * lists, carried out by a small machine. All its memory comes from one pool.
 *
 * One calculator belongs to one thread at a time; it has no state beside its own.
 */
#ifndef HEAPWRIGHT_CALCULATOR_H
#define HEAPWRIGHT_CALCULATOR_H

#include "pool.h"

#include <stdint.h>

/* Where it says what. A message is one line, without its end. */
struct CalculatorOutput {
    void (*write)(void* context, const char* bytes, size_t length);
    void (*complain)(void* context, const char* message);
    void* context;
};

/* What a program may use. 0 is no limit. */
struct CalculatorLimits {
    uint64_t steps;    /* operations, a long number's counted by its length */
    size_t digits;     /* of one number */
    size_t elements;   /* of one array: its highest index and one */
    size_t lineLength; /* longer lines are broken, as bc breaks them */
};

struct Calculator;

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
