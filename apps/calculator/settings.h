/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The output functions and the limits of a calculator.
 */
#ifndef HEAPWRIGHT_CALCULATOR_SETTINGS_H
#define HEAPWRIGHT_CALCULATOR_SETTINGS_H

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

#endif
