/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The machine: a stack of numbers, and a stack of calls. Scope is dynamic, as in bc. A call
 * exchanges the meanings of the names of a function's parameters and own variables, and its end
 * exchanges them back. So a name is looked up once, when the text is translated.
 */
#ifndef HEAPWRIGHT_CALCULATOR_MACHINE_H
#define HEAPWRIGHT_CALCULATOR_MACHINE_H

#include "settings.h"
#include "translator.h"

/* Where a caller goes on. */
struct Frame {
    const struct Code* code;
    size_t at;
    size_t locals; /* how many were exchanged before the call */
};

/* The meaning that a name does not have at the moment. It is that outside of the call. While
 * arguments are prepared, it is that inside of it. */
struct Exchanged {
    struct Local local;
    struct Number* value;
    struct Array* array;
};

struct Calculator {
    struct CalculatorPool pool;
    struct CalculatorOutput output;
    struct CalculatorLimits limits;
    struct Arithmetic arithmetic;
    struct Names names;
    struct Code line;
    struct Number* zero;
    struct Number* one;

    const struct Code* code; /* that is being carried out */
    size_t at;               /* the next instruction */
    struct Number** stack;
    size_t stackCount, stackRoom;
    struct Frame* frames;
    size_t frameCount, frameRoom;
    struct Exchanged* exchanged;
    size_t exchangedCount, exchangedRoom;

    size_t scale; /* the value of the variable */
    size_t column;
    uint64_t steps;
    int ended;
    int spent; /* no steps are left */
    const char* failure;
};

/* Carries out the line. Answers whether all went well; else `failure` says why not, and no call is
 * left open. */
int machineRun(struct Calculator*);

/* All answer whether all went well, here and below. */
int machineFail(struct Calculator*, const char* why);
int machinePush(struct Calculator*, struct Number* number); /* null is a failed operation */
int machineSetValue(struct Calculator*, uint32_t name, struct Number* number);
struct Number* machinePop(struct Calculator*);

int machineLoadElement(struct Calculator*, uint32_t name);
int machineStoreElement(struct Calculator*, uint32_t name);
int machineStepElement(struct Calculator*, uint32_t name);
int machineCall(struct Calculator*, uint32_t name);
int machineGoBack(struct Calculator*);
int machineShow(struct Calculator*, int onItsOwnLine);
void machineWriteText(struct Calculator*, const struct Text* text);
/* Everything that calls have exchanged is as before them. */
void machineUnwind(struct Calculator*);

#endif
