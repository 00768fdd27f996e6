/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * From text to code in one pass: a function for each level of the grammar. The first error is kept.
 * From then on no word fits, so that everything ends by itself.
 */
#ifndef HEAPWRIGHT_CALCULATOR_TRANSLATOR_H
#define HEAPWRIGHT_CALCULATOR_TRANSLATOR_H

#include "code.h"
#include "lexer.h"

struct Loop;

struct Translator {
    struct Lexer lexer;
    struct Arithmetic* arithmetic;
    struct Names* names;
    struct Code* code;         /* where instructions go */
    struct Function* function; /* that is being defined, or null */
    struct Loop* loop;         /* that is innermost, or null */
    unsigned depth;            /* of statements and brackets in each other */
    int quit;                  /* `quit` was read */
    const char* failure;
};

/* The translator at its first word. */
void translatorStart(struct Translator*, const char* text, size_t length);

/* The next line, into the code, or a definition, which is carried out at once. Answers whether
 * there was any; whether it was right says `failure`. */
int translatorLine(struct Translator*);

/* Past what is wrong, to the next line. */
void translatorRecover(struct Translator*);

/* What statements and expressions share. */
void translatorFail(struct Translator*, const char* why);
void translatorNext(struct Translator*);
int translatorAccept(struct Translator*, int word);
void translatorExpect(struct Translator*, int word);
int translatorEnter(struct Translator*); /* one level deeper, if that is not too deep */
/* Answers where the operand is, which can be written later. */
size_t translatorEmit(struct Translator*, enum Instruction, size_t operand);
size_t translatorHere(const struct Translator*);
void translatorSetTarget(struct Translator*, size_t operand, size_t target);
uint32_t translatorName(struct Translator*); /* the index of the name that the word is */
size_t translatorText(struct Translator*, const char* bytes, size_t length);

/* An expression; answers whether it is an assignment and nothing more. */
int translateExpression(struct Translator*);

#endif
