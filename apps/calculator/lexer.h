/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Words of a text, one at a time. A word is a place in the text: nothing is copied.
 */
#ifndef HEAPWRIGHT_CALCULATOR_LEXER_H
#define HEAPWRIGHT_CALCULATOR_LEXER_H

#include <stddef.h>

/* A word of one character is that character; the others are these. */
enum Word {
    kEnd = 256, /* of the text */
    kUnknown,   /* no word of the language, or a string or comment without an end */
    kNumber,
    kString,
    kName,
    kAssign, /* = += -= *= /= %= ^=, told apart by their first character */
    kIncrement,
    kDecrement,
    kEqual,
    kUnequal,
    kLessOrEqual,
    kGreaterOrEqual,
    kAnd,
    kOr,
    kFirstKeyword,
    kAuto = kFirstKeyword,
    kBreak,
    kContinue,
    kDefine,
    kElse,
    kFor,
    kHalt,
    kIf,
    kLast,
    kLength,
    kPrint,
    kQuit,
    kReturn,
    kSqrt,
    kWhile,
};

struct Lexer {
    const char* at;
    const char* end;
    unsigned line;  /* of the word */
    unsigned lines; /* begun so far */
    int word;
    const char* text; /* of the word; of a string without its quotes */
    size_t length;
};

void lexerStart(struct Lexer* lexer, const char* text, size_t length);
void lexerNext(struct Lexer* lexer);

#endif
