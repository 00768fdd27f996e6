// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What every level of the grammar uses: words, instructions, names.
#include "translator.h"

#include <string.h>

enum { kMostDepth = 200 };

void translatorStart(struct Translator* t, const char* text, size_t length) {
    lexerStart(&t->lexer, text, length);
    lexerNext(&t->lexer);
}

void translatorFail(struct Translator* t, const char* why) {
    if (t->failure == NULL)
        t->failure = why;
}

void translatorNext(struct Translator* t) {
    if (t->failure == NULL)
        lexerNext(&t->lexer);
}

int translatorAccept(struct Translator* t, int word) {
    if (t->failure != NULL || t->lexer.word != word)
        return 0;
    lexerNext(&t->lexer);
    return 1;
}

void translatorExpect(struct Translator* t, int word) {
    if (!translatorAccept(t, word))
        translatorFail(t, "syntax error");
}

int translatorEnter(struct Translator* t) {
    if (++t->depth > kMostDepth)
        translatorFail(t, "nested too deeply");
    return t->failure == NULL;
}

void translatorRecover(struct Translator* t) {
    while (t->lexer.word != '\n' && t->lexer.word != kEnd)
        lexerNext(&t->lexer);
    t->failure = NULL;
    t->depth = 0;
}

size_t translatorEmit(struct Translator* t, enum Instruction instruction, size_t operand) {
    struct Code* code = t->code;
    if (t->failure != NULL)
        return 1;
    if (code->length >= UINT32_MAX - 2 || operand > UINT32_MAX) {
        translatorFail(t, "too much code");
        return 1;
    }
    if (!poolGrow(t->arithmetic->pool, &code->words, code->length, 2, sizeof *code->words,
                  &code->room)) {
        translatorFail(t, "out of memory");
        return 1;
    }
    code->words[code->length++] = instruction;
    code->words[code->length++] = (uint32_t)operand;
    return code->length - 1;
}

size_t translatorHere(const struct Translator* t) {
    return t->code->length;
}

void translatorSetTarget(struct Translator* t, size_t operand, size_t target) {
    if (t->failure == NULL)
        t->code->words[operand] = (uint32_t)target;
}

uint32_t translatorName(struct Translator* t) {
    if (t->failure != NULL)
        return 0;
    struct Name* name = namesFind(t->arithmetic->pool, t->names, t->lexer.text, t->lexer.length);
    if (name == NULL) {
        translatorFail(t, "out of memory");
        return 0;
    }
    return name->index;
}

size_t translatorText(struct Translator* t, const char* bytes, size_t length) {
    struct Code* code = t->code;
    const struct CalculatorPool* pool = t->arithmetic->pool;
    if (t->failure != NULL)
        return 0;
    struct Text* text = textCopy(pool, bytes, length);
    if (text == NULL ||
        !poolGrow(pool, &code->texts, code->textCount, 1, sizeof *code->texts, &code->textRoom)) {
        poolRelease(pool, text);
        translatorFail(t, "out of memory");
        return 0;
    }
    code->texts[code->textCount] = text;
    return code->textCount++;
}
