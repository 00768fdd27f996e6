// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The calculator as a whole: made, fed, unmade; and what it writes.
#include "calculator.h"
#include "machine.h"

#include <stdio.h>
#include <string.h>

enum { kMostElements = 1 << 24 };
static const size_t kMostDigits = 100 * 1000 * 1000;

/// The names that the machine knows, in the order of their indices.
static int addKnownNames(struct Calculator* c) {
    static const char* const kKnown[] = {"scale", "last", "ibase", "obase"};
    for (size_t i = 0; i < sizeof kKnown / sizeof *kKnown; ++i) {
        if (namesFind(&c->pool, &c->names, kKnown[i], strlen(kKnown[i])) == NULL)
            return 0;
    }
    struct Number* ten = numberFromInteger(&c->arithmetic, 10);
    if (ten == NULL)
        return 0;
    machineSetValue(c, kInputBaseName, ten);
    machineSetValue(c, kOutputBaseName, ten);
    numberDrop(&c->arithmetic, ten);
    return 1;
}

struct Calculator* calculatorCreate(const struct CalculatorPool* pool,
                                    const struct CalculatorOutput* output,
                                    const struct CalculatorLimits* limits) {
    struct Calculator* c = poolAllocate(pool, sizeof *c);
    if (c == NULL)
        return NULL;
    *c = (struct Calculator){.pool = *pool, .output = *output, .limits = *limits};
    if (c->limits.digits == 0 || c->limits.digits > kMostDigits)
        c->limits.digits = kMostDigits;
    if (c->limits.elements == 0 || c->limits.elements > kMostElements)
        c->limits.elements = kMostElements;
    c->arithmetic = (struct Arithmetic){.pool = &c->pool, .mostDigits = c->limits.digits};
    c->zero = numberFromInteger(&c->arithmetic, 0);
    c->one = numberFromInteger(&c->arithmetic, 1);
    if (c->zero == NULL || c->one == NULL || !addKnownNames(c)) {
        calculatorDestroy(c);
        return NULL;
    }
    return c;
}

void calculatorDestroy(struct Calculator* c) {
    if (c == NULL)
        return;
    const struct CalculatorPool pool = c->pool;
    numberDrop(&c->arithmetic, c->zero);
    numberDrop(&c->arithmetic, c->one);
    namesDestroy(&c->arithmetic, &c->names);
    codeClear(&c->arithmetic, &c->line);
    poolRelease(&pool, c->stack);
    poolRelease(&pool, c->frames);
    poolRelease(&pool, c->exchanged);
    poolRelease(&pool, c);
}

int calculatorEnded(const struct Calculator* c) {
    return c->ended;
}

static void complain(struct Calculator* c, unsigned line, const char* what) {
    char message[160];
    snprintf(message, sizeof message, "line %u: %s", line, what);
    c->output.complain(c->output.context, message);
}

/// One line, which has been translated; answers whether all went well.
static int carryOutLine(struct Calculator* c, struct Translator* t, unsigned line) {
    if (t->failure != NULL) {
        complain(c, line, t->failure);
        translatorRecover(t);
        return 0;
    }
    if (t->quit) {
        c->ended = 1;
        return 1;
    }
    if (machineRun(c))
        return 1;
    complain(c, line, c->failure);
    return 0;
}

unsigned calculatorRun(struct Calculator* c, const char* text, size_t length) {
    struct Translator t = {.arithmetic = &c->arithmetic, .names = &c->names, .code = &c->line};
    unsigned wrong = 0;
    translatorStart(&t, text, length);
    while (!c->ended && !c->spent && translatorLine(&t)) {
        wrong += !carryOutLine(c, &t, t.lexer.line);
        codeClear(&c->arithmetic, &c->line);
    }
    return wrong;
}

static void put(struct Calculator* c, const char* bytes, size_t length) {
    c->output.write(c->output.context, bytes, length);
}

/// What has no end of a line in it, broken as bc breaks it: a backslash, and on the next line.
static void putBroken(struct Calculator* c, const char* bytes, size_t length) {
    const size_t most = c->limits.lineLength;
    while (most > 2 && c->column + length > most - 2) {
        const size_t fitting = c->column < most - 2 ? most - 2 - c->column : 0;
        put(c, bytes, fitting);
        put(c, "\\\n", 2);
        bytes += fitting;
        length -= fitting;
        c->column = 0;
    }
    put(c, bytes, length);
    c->column += length;
}

int machineShow(struct Calculator* c, int onItsOwnLine) {
    struct Number* number = machinePop(c);
    size_t length = 0;
    char* text = numberText(&c->arithmetic, number, &length);
    int done = text != NULL || machineFail(c, c->arithmetic.failure);
    if (done) {
        putBroken(c, text, length);
        c->arithmetic.work += length;
        poolRelease(&c->pool, text);
        done = machineSetValue(c, kLastName, number);
    }
    if (done && onItsOwnLine) {
        put(c, "\n", 1);
        c->column = 0;
    }
    numberDrop(&c->arithmetic, number);
    return done;
}

void machineWriteText(struct Calculator* c, const struct Text* text) {
    const char* from = text->bytes;
    const char* end = text->bytes + text->length;
    while (from < end) {
        const char* line = memchr(from, '\n', (size_t)(end - from));
        putBroken(c, from, (size_t)((line == NULL ? end : line) - from));
        if (line == NULL)
            return;
        put(c, line, 1);
        c->column = 0;
        from = line + 1;
    }
}
