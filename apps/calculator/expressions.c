// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Expressions, from what binds least to what binds most: || && ! comparisons = + * ^ - ++. That
// assignment binds more than comparison is bc's way, and so is that a sign binds more than a power.
#include "translator.h"

#include <string.h>

enum { kNoElement = 0, kElement = 1 };

static void translateRelation(struct Translator* t, int* assigned);
static void translateSum(struct Translator* t, int* assigned);
static void translateUnary(struct Translator* t, int* assigned);

static enum Instruction arithmeticOf(char sign) {
    switch (sign) {
    case '+':
        return kAdd;
    case '-':
        return kSubtract;
    case '*':
        return kMultiply;
    case '/':
        return kDivide;
    case '%':
        return kModulo;
    default:
        return kPower;
    }
}

/// The parser has read a variable or an element, whose index is on the stack. An assignment, a
/// step, or nothing may follow. With nothing, the value is wanted.
static void translatePlace(struct Translator* t, uint32_t name, int element, int* assigned) {
    const enum Instruction load = element ? kLoadElement : kLoad;
    const enum Instruction store = element ? kStoreElement : kStore;
    if (t->lexer.word == kAssign && t->failure == NULL) {
        const char sign = *t->lexer.text;
        translatorNext(t);
        if (sign != '=') {
            if (element)
                translatorEmit(t, kDuplicate, 0);
            translatorEmit(t, load, name);
        }
        int inner = 0;
        if (translatorEnter(t))
            translateSum(t, &inner);
        --t->depth;
        if (sign != '=')
            translatorEmit(t, arithmeticOf(sign), 0);
        translatorEmit(t, store, name);
        *assigned = 1;
        return;
    }
    const int up = t->lexer.word == kIncrement;
    if (!up && t->lexer.word != kDecrement) {
        translatorEmit(t, load, name);
        return;
    }
    translatorNext(t);
    if (element) {
        translatorEmit(t, kPushOne, 0);
        if (!up)
            translatorEmit(t, kNegate, 0);
        translatorEmit(t, kStepElement, name);
        return;
    }
    translatorEmit(t, kLoad, name);
    translatorEmit(t, kDuplicate, 0);
    translatorEmit(t, kPushOne, 0);
    translatorEmit(t, up ? kAdd : kSubtract, 0);
    translatorEmit(t, kStore, name);
    translatorEmit(t, kDrop, 0);
}

/// ++ or -- before a variable or an element.
static void translateStep(struct Translator* t, int up) {
    const int last = t->lexer.word == kLast;
    if (!last && t->lexer.word != kName) {
        translatorFail(t, "syntax error");
        return;
    }
    const uint32_t name = last ? kLastName : translatorName(t);
    translatorNext(t);
    const int element = translatorAccept(t, '[');
    if (element) {
        translateExpression(t);
        translatorExpect(t, ']');
        translatorEmit(t, kDuplicate, 0);
    }
    translatorEmit(t, element ? kLoadElement : kLoad, name);
    translatorEmit(t, kPushOne, 0);
    translatorEmit(t, up ? kAdd : kSubtract, 0);
    translatorEmit(t, element ? kStoreElement : kStore, name);
}

/// An argument; answers the letter of its kind.
static char translateArgument(struct Translator* t) {
    if (t->lexer.word == kName && t->failure == NULL) {
        const struct Lexer before = t->lexer;
        const uint32_t name = translatorName(t);
        translatorNext(t);
        if (translatorAccept(t, '[') && translatorAccept(t, ']')) {
            translatorEmit(t, kPassArray, name);
            return 'a';
        }
        t->lexer = before;
    }
    translateExpression(t);
    return 'n';
}

enum { kMostArguments = 64 };

static void translateCall(struct Translator* t, uint32_t name) {
    char kinds[kMostArguments];
    size_t count = 0;
    if (!translatorAccept(t, ')')) {
        do {
            if (count == kMostArguments) {
                translatorFail(t, "too many arguments");
                break;
            }
            kinds[count++] = translateArgument(t);
        } while (translatorAccept(t, ','));
        translatorExpect(t, ')');
    }
    const size_t text = translatorText(t, kinds, count);
    translatorEmit(t, kCall, name);
    translatorEmit(t, kArguments, text);
}

static void translateName(struct Translator* t, int* assigned) {
    // `scale` is a variable and, with a parenthesis, a function.
    const int scale = t->lexer.length == 5 && memcmp(t->lexer.text, "scale", 5) == 0;
    const uint32_t name = translatorName(t);
    translatorNext(t);
    if (translatorAccept(t, '(')) {
        if (scale) {
            translateExpression(t);
            translatorExpect(t, ')');
            translatorEmit(t, kScaleOf, 0);
        } else {
            translateCall(t, name);
        }
    } else if (translatorAccept(t, '[')) {
        translateExpression(t);
        translatorExpect(t, ']');
        translatePlace(t, name, kElement, assigned);
    } else {
        translatePlace(t, name, kNoElement, assigned);
    }
}

static void translateConstant(struct Translator* t) {
    struct Code* code = t->code;
    struct Number* number = numberFromText(t->arithmetic, t->lexer.text, t->lexer.length);
    if (number == NULL) {
        translatorFail(t, t->arithmetic->failure);
        return;
    }
    if (!poolGrow(t->arithmetic->pool, &code->constants, code->constantCount, 1,
                  sizeof *code->constants, &code->constantRoom)) {
        numberDrop(t->arithmetic, number);
        translatorFail(t, "out of memory");
        return;
    }
    code->constants[code->constantCount] = number;
    translatorEmit(t, kPushConstant, code->constantCount++);
    translatorNext(t);
}

static void translateBuiltIn(struct Translator* t, enum Instruction instruction) {
    translatorNext(t);
    translatorExpect(t, '(');
    translateExpression(t);
    translatorExpect(t, ')');
    translatorEmit(t, instruction, 0);
}

static void translatePrimary(struct Translator* t, int* assigned) {
    switch (t->failure == NULL ? t->lexer.word : kUnknown) {
    case kNumber:
        translateConstant(t);
        break;
    case kName:
        translateName(t, assigned);
        break;
    case kLast:
        translatorNext(t);
        translatePlace(t, kLastName, kNoElement, assigned);
        break;
    case kLength:
        translateBuiltIn(t, kLengthOf);
        break;
    case kSqrt:
        translateBuiltIn(t, kRootOf);
        break;
    case '(':
        translatorNext(t);
        translateExpression(t);
        translatorExpect(t, ')');
        break;
    default:
        translatorFail(t, "syntax error");
    }
}

static void translateUnary(struct Translator* t, int* assigned) {
    if (!translatorEnter(t)) {
        --t->depth;
        return;
    }
    if (translatorAccept(t, '-')) {
        int inner = 0;
        translateUnary(t, &inner);
        translatorEmit(t, kNegate, 0);
    } else if (translatorAccept(t, '!')) { // binds less than what is around it: takes all it can
        int inner = 0;
        translateRelation(t, &inner);
        translatorEmit(t, kNot, 0);
    } else if (t->lexer.word == kIncrement || t->lexer.word == kDecrement) {
        const int up = t->lexer.word == kIncrement;
        translatorNext(t);
        translateStep(t, up);
    } else {
        translatePrimary(t, assigned);
    }
    --t->depth;
}

static void translatePower(struct Translator* t, int* assigned) {
    translateUnary(t, assigned);
    if (translatorAccept(t, '^')) {
        int inner = 0;
        *assigned = 0;
        if (translatorEnter(t))
            translatePower(t, &inner);
        --t->depth;
        translatorEmit(t, kPower, 0);
    }
}

static void translateProduct(struct Translator* t, int* assigned) {
    translatePower(t, assigned);
    while (t->failure == NULL &&
           (t->lexer.word == '*' || t->lexer.word == '/' || t->lexer.word == '%')) {
        const enum Instruction instruction = arithmeticOf((char)t->lexer.word);
        int inner = 0;
        *assigned = 0;
        translatorNext(t);
        translatePower(t, &inner);
        translatorEmit(t, instruction, 0);
    }
}

static void translateSum(struct Translator* t, int* assigned) {
    translateProduct(t, assigned);
    while (t->failure == NULL && (t->lexer.word == '+' || t->lexer.word == '-')) {
        const enum Instruction instruction = arithmeticOf((char)t->lexer.word);
        int inner = 0;
        *assigned = 0;
        translatorNext(t);
        translateProduct(t, &inner);
        translatorEmit(t, instruction, 0);
    }
}

static int comparisonOf(int word) {
    switch (word) {
    case '<':
        return kLess;
    case '>':
        return kGreater;
    case kLessOrEqual:
        return kLessEqual;
    case kGreaterOrEqual:
        return kGreaterEqual;
    case kEqual:
        return kSame;
    case kUnequal:
        return kDifferent;
    default:
        return -1;
    }
}

static void translateRelation(struct Translator* t, int* assigned) {
    translateSum(t, assigned);
    for (int comparison; t->failure == NULL && (comparison = comparisonOf(t->lexer.word)) >= 0;) {
        int inner = 0;
        *assigned = 0;
        translatorNext(t);
        translateSum(t, &inner);
        translatorEmit(t, (enum Instruction)comparison, 0);
    }
}

/// The second of two is not looked at where the first decides.
static size_t decideHere(struct Translator* t, enum Instruction jump) {
    translatorEmit(t, kTruth, 0);
    translatorEmit(t, kDuplicate, 0);
    const size_t decided = translatorEmit(t, jump, 0);
    translatorEmit(t, kDrop, 0);
    return decided;
}

static void translateAnd(struct Translator* t, int* assigned) {
    translateRelation(t, assigned);
    while (translatorAccept(t, kAnd)) {
        int inner = 0;
        *assigned = 0;
        const size_t decided = decideHere(t, kJumpIfZero);
        translateRelation(t, &inner);
        translatorEmit(t, kTruth, 0);
        translatorSetTarget(t, decided, translatorHere(t));
    }
}

int translateExpression(struct Translator* t) {
    int assigned = 0;
    if (translatorEnter(t))
        translateAnd(t, &assigned);
    while (translatorAccept(t, kOr)) {
        int inner = 0;
        assigned = 0;
        const size_t decided = decideHere(t, kJumpIfNotZero);
        translateAnd(t, &inner);
        translatorEmit(t, kTruth, 0);
        translatorSetTarget(t, decided, translatorHere(t));
    }
    --t->depth;
    return assigned;
}
