// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Carries out a text from standard input again and again, with a pool that refuses one object. It
// refuses its first, then its second, then its third object, and so on, until the text needs no
// more. Each time the calculator has to say so and has to give everything back; the last time
// nothing may be wrong.
#include "calculator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Failing {
    unsigned long until, asked, live;
    int refused, told;
};

static void* allocate(void* context, size_t size) {
    struct Failing* failing = context;
    if (++failing->asked == failing->until) {
        failing->refused = 1;
        return NULL;
    }
    ++failing->live;
    return malloc(size);
}

static void release(void* context, void* object) {
    --((struct Failing*)context)->live;
    free(object);
}

static void ignore(void* context, const char* bytes, size_t length) {
    (void)context;
    (void)bytes;
    (void)length;
}

static void complain(void* context, const char* message) {
    struct Failing* failing = context;
    if (strstr(message, "out of memory") != NULL)
        failing->told = 1;
    else
        printf("not to be said: %s\n", message);
}

/// Whether there was memory for all of it.
static int attempt(unsigned long until, const char* text, size_t length) {
    struct Failing failing = {.until = until};
    const struct CalculatorPool pool = {allocate, release, &failing};
    const struct CalculatorOutput output = {ignore, complain, &failing};
    const struct CalculatorLimits limits = {0, 0, 0, 70};
    struct Calculator* calculator = calculatorCreate(&pool, &output, &limits);
    if (calculator != NULL)
        calculatorRun(calculator, text, length);
    calculatorDestroy(calculator);
    if (failing.live != 0)
        printf("object %lu: %lu are left\n", until, failing.live);
    if (failing.refused != (failing.told || calculator == NULL))
        printf("object %lu: refused %d, told %d\n", until, failing.refused, failing.told);
    return !failing.refused;
}

int main(void) {
    static char text[1 << 16];
    const size_t length = fread(text, 1, sizeof text, stdin);
    unsigned long until = 1;
    while (!attempt(until, text, length))
        ++until;
    printf("%lu objects\n", until - 1);
    return 0;
}
