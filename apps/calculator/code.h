/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a text is translated into: instructions for a machine with a stack of numbers. An
 * instruction is two words, what is done and with what; a jump's target is the place of an
 * instruction's first word.
 */
#ifndef HEAPWRIGHT_CALCULATOR_CODE_H
#define HEAPWRIGHT_CALCULATOR_CODE_H

#include "number.h"

enum Instruction {
    kPushConstant, /* constants[operand] */
    kPushOne,
    kLoad,         /* names[operand] */
    kStore,        /* the top, which stays there */
    kLoadElement,  /* takes an index from the stack */
    kStoreElement, /* takes the value and the index below it; leaves the value */
    kStepElement,  /* takes an index; adds the one above it, leaves what was there before */
    kDuplicate,
    kDrop,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kModulo,
    kPower,
    kNegate,
    kNot,
    kLess, /* the next six: takes two, leaves 1 or 0 */
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kSame,
    kDifferent,
    kTruth, /* 1 for what is not 0 */
    kJump,
    kJumpIfZero,    /* takes one */
    kJumpIfNotZero, /* takes one */
    kCall,          /* names[operand]; its arguments are on the stack, and kArguments follows */
    kArguments,     /* texts[operand]: a letter for each, of a number or an array */
    kPassArray,     /* leaves the operand, the index of a name, as a number */
    kGoBack,        /* the top is the result */
    kLengthOf,
    kScaleOf,
    kRootOf,
    kShow,      /* takes one, writes it on a line of its own */
    kWrite,     /* takes one, writes it */
    kWriteText, /* texts[operand] */
    kHaltNow,
};

struct Text {
    size_t length;
    char bytes[];
};

struct Code {
    uint32_t* words;
    size_t length, room;
    struct Number** constants;
    size_t constantCount, constantRoom;
    struct Text** texts;
    size_t textCount, textRoom;
};

/* A parameter or a variable of a function's own. */
struct Local {
    uint32_t name;
    int isArray;
};

struct Function {
    struct Code code;
    struct Local* locals; /* the parameters first */
    size_t localCount, localRoom;
    size_t parameterCount;
};

struct Array {
    struct Number** elements; /* null is zero */
    size_t length;
};

/* What a name stands for at the moment: three things that have nothing to do with each other. */
struct Name {
    struct Name* next; /* in its bucket */
    uint32_t index;
    struct Number* value; /* null is zero */
    struct Array* array;  /* null has no elements yet */
    struct Function* function;
    struct Text* text;
};

/* These names mean something to the machine and have the first places. */
enum { kScaleName, kLastName, kInputBaseName, kOutputBaseName };

enum { kBuckets = 64 };

struct Names {
    struct Name** all; /* by index */
    size_t count, room;
    struct Name* buckets[kBuckets];
};

/* The name of that spelling, a new one if need be; null if there is no memory. */
struct Name* namesFind(const struct CalculatorPool* pool, struct Names* names, const char* text,
                       size_t length);

struct Text* textCopy(const struct CalculatorPool* pool, const char* bytes, size_t length);

/* Frees everything. The code is empty and may be used again. */
void codeClear(struct Arithmetic* arithmetic, struct Code* code);
void functionDestroy(struct Arithmetic* arithmetic, struct Function* function);
void arrayDestroy(struct Arithmetic* arithmetic, struct Array* array);
void namesDestroy(struct Arithmetic* arithmetic, struct Names* names);

#endif
