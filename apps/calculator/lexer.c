// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "lexer.h"

#include <string.h>

static const char* const kKeywords[] = {"auto",  "break", "continue", "define", "else",
                                        "for",   "halt",  "if",       "last",   "length",
                                        "print", "quit",  "return",   "sqrt",   "while"};

static const struct {
    char characters[3];
    int word;
} kPairs[] = {{"+=", kAssign}, {"-=", kAssign},  {"*=", kAssign},      {"/=", kAssign},
              {"%=", kAssign}, {"^=", kAssign},  {"++", kIncrement},   {"--", kDecrement},
              {"==", kEqual},  {"!=", kUnequal}, {"<=", kLessOrEqual}, {">=", kGreaterOrEqual},
              {"&&", kAnd},    {"||", kOr}};

static int isDigit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
}
static int isLetter(char c) {
    return c >= 'a' && c <= 'z';
}

/// Past blanks, comments, and line ends that a backslash takes away. Answers 0 for an open comment.
static int skip(struct Lexer* lexer) {
    while (lexer->at < lexer->end) {
        const char* next = lexer->at + 1;
        const char after = next < lexer->end ? *next : '\0';
        if (*lexer->at == ' ' || *lexer->at == '\t' || *lexer->at == '\r') {
            ++lexer->at;
        } else if (*lexer->at == '\\' && after == '\n') {
            lexer->at += 2;
            ++lexer->lines;
        } else if (*lexer->at == '#') {
            while (lexer->at < lexer->end && *lexer->at != '\n')
                ++lexer->at;
        } else if (*lexer->at == '/' && after == '*') {
            lexer->at += 2;
            while (lexer->at + 1 < lexer->end && !(lexer->at[0] == '*' && lexer->at[1] == '/'))
                lexer->lines += *lexer->at++ == '\n';
            if (lexer->at + 1 >= lexer->end)
                return 0;
            lexer->at += 2;
        } else {
            break;
        }
    }
    return 1;
}

static int takeNumber(struct Lexer* lexer) {
    int points = 0;
    while (lexer->at < lexer->end && (isDigit(*lexer->at) || (*lexer->at == '.' && points == 0)))
        points += *lexer->at++ == '.';
    lexer->length = (size_t)(lexer->at - lexer->text);
    return points == 1 && lexer->length == 1 ? kLast : kNumber; // a point alone is the last value
}

static int takeName(struct Lexer* lexer) {
    while (lexer->at < lexer->end &&
           (isLetter(*lexer->at) || *lexer->at == '_' || (*lexer->at >= '0' && *lexer->at <= '9')))
        ++lexer->at;
    lexer->length = (size_t)(lexer->at - lexer->text);
    for (size_t i = 0; i < sizeof kKeywords / sizeof *kKeywords; ++i) {
        if (strlen(kKeywords[i]) == lexer->length &&
            memcmp(kKeywords[i], lexer->text, lexer->length) == 0)
            return kFirstKeyword + (int)i;
    }
    return kName;
}

static int takeString(struct Lexer* lexer) {
    lexer->text = ++lexer->at;
    while (lexer->at < lexer->end && *lexer->at != '"')
        lexer->lines += *lexer->at++ == '\n';
    lexer->length = (size_t)(lexer->at - lexer->text);
    if (lexer->at == lexer->end)
        return kUnknown;
    ++lexer->at;
    return kString;
}

static int takeOperator(struct Lexer* lexer) {
    for (size_t i = 0; i < sizeof kPairs / sizeof *kPairs; ++i) {
        if (lexer->end - lexer->at >= 2 && memcmp(kPairs[i].characters, lexer->at, 2) == 0) {
            lexer->at += 2;
            return kPairs[i].word;
        }
    }
    const char c = *lexer->at++;
    if (c == '=')
        return kAssign;
    return c != '\0' && strchr("+-*/%^<>!()[]{},;\n", c) != NULL ? c : kUnknown;
}

void lexerStart(struct Lexer* lexer, const char* text, size_t length) {
    lexer->at = text;
    lexer->end = text + length;
    lexer->line = lexer->lines = 1;
    lexer->word = kEnd;
    lexer->text = text;
    lexer->length = 0;
}

void lexerNext(struct Lexer* lexer) {
    if (lexer->word == '\n')
        ++lexer->lines;
    const int closed = skip(lexer);
    lexer->line = lexer->lines;
    lexer->text = lexer->at;
    lexer->length = 1;
    if (!closed) { // a comment, up to the end
        lexer->at = lexer->end;
        lexer->word = kUnknown;
    } else if (lexer->at == lexer->end) {
        lexer->word = kEnd;
    } else if (isDigit(*lexer->at) || *lexer->at == '.') {
        lexer->word = takeNumber(lexer);
    } else if (isLetter(*lexer->at)) {
        lexer->word = takeName(lexer);
    } else if (*lexer->at == '"') {
        lexer->word = takeString(lexer);
    } else {
        lexer->word = takeOperator(lexer);
    }
}
