// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One instruction after another.
#include "machine.h"

int machineFail(struct Calculator* c, const char* why) {
    c->failure = why;
    return 0;
}

int machinePush(struct Calculator* c, struct Number* number) {
    if (number == NULL)
        return machineFail(c, c->arithmetic.failure);
    if (!poolGrow(&c->pool, &c->stack, c->stackCount, 1, sizeof *c->stack, &c->stackRoom)) {
        numberDrop(&c->arithmetic, number);
        return machineFail(c, "out of memory");
    }
    c->stack[c->stackCount++] = number;
    return 1;
}

struct Number* machinePop(struct Calculator* c) {
    return c->stack[--c->stackCount];
}

static struct Number* top(const struct Calculator* c) {
    return c->stack[c->stackCount - 1];
}

static int dropTop(struct Calculator* c) {
    numberDrop(&c->arithmetic, machinePop(c));
    return 1;
}

static int setScale(struct Calculator* c, const struct Number* number) {
    if (number->negative)
        return machineFail(c, "negative scale");
    const uint64_t scale = numberWhole(number, c->arithmetic.mostDigits);
    if (scale > c->arithmetic.mostDigits)
        return machineFail(c, "scale too large");
    c->scale = (size_t)scale;
    return 1;
}

int machineSetValue(struct Calculator* c, uint32_t name, struct Number* number) {
    struct Name* variable = c->names.all[name];
    if (name == kScaleName && !setScale(c, number))
        return 0;
    if ((name == kInputBaseName || name == kOutputBaseName) &&
        (number->negative || numberWhole(number, 10) != 10))
        return machineFail(c, "ibase and obase are always 10");
    struct Number* value =
        name == kScaleName ? numberFromInteger(&c->arithmetic, c->scale) : numberShare(number);
    if (value == NULL)
        return machineFail(c, c->arithmetic.failure);
    numberDrop(&c->arithmetic, variable->value);
    variable->value = value;
    return 1;
}

static int load(struct Calculator* c, uint32_t name) {
    struct Number* value = c->names.all[name]->value;
    return machinePush(c, numberShare(value == NULL ? c->zero : value));
}

static int calculate(struct Calculator* c, uint32_t instruction) {
    static struct Number* (*const kScaled[])(struct Arithmetic*, const struct Number*,
                                             const struct Number*, size_t) = {
        numberMultiply, numberDivide, numberModulo, numberPower};
    struct Number* b = machinePop(c);
    struct Number* a = machinePop(c);
    struct Number* result = instruction == kAdd ? numberAdd(&c->arithmetic, a, b)
                            : instruction == kSubtract
                                ? numberSubtract(&c->arithmetic, a, b)
                                : kScaled[instruction - kMultiply](&c->arithmetic, a, b, c->scale);
    numberDrop(&c->arithmetic, a);
    numberDrop(&c->arithmetic, b);
    return machinePush(c, result);
}

static int pushTruth(struct Calculator* c, int truth) {
    return machinePush(c, numberShare(truth ? c->one : c->zero));
}

static int compare(struct Calculator* c, uint32_t instruction) {
    struct Number* b = machinePop(c);
    struct Number* a = machinePop(c);
    int order = 0;
    const int known = numberCompare(&c->arithmetic, a, b, &order);
    numberDrop(&c->arithmetic, a);
    numberDrop(&c->arithmetic, b);
    if (!known)
        return machineFail(c, c->arithmetic.failure);
    switch (instruction) {
    case kLess:
        return pushTruth(c, order < 0);
    case kLessEqual:
        return pushTruth(c, order <= 0);
    case kGreater:
        return pushTruth(c, order > 0);
    case kGreaterEqual:
        return pushTruth(c, order >= 0);
    case kSame:
        return pushTruth(c, order == 0);
    default:
        return pushTruth(c, order != 0);
    }
}

/// What is made of one number.
static int transform(struct Calculator* c, uint32_t instruction) {
    struct Number* a = machinePop(c);
    struct Number* result = NULL;
    switch (instruction) {
    case kNegate:
        result = numberNegate(&c->arithmetic, a);
        break;
    case kNot:
        result = numberShare(a->length == 0 ? c->one : c->zero);
        break;
    case kTruth:
        result = numberShare(a->length == 0 ? c->zero : c->one);
        break;
    case kLengthOf:
        result = numberFromInteger(&c->arithmetic, numberDigits(a));
        break;
    case kScaleOf:
        result = numberFromInteger(&c->arithmetic, a->scale);
        break;
    default:
        result = numberRoot(&c->arithmetic, a, c->scale);
    }
    numberDrop(&c->arithmetic, a);
    return machinePush(c, result);
}

static int jumpIf(struct Calculator* c, uint32_t target, int wanted) {
    const int isTrue = top(c)->length != 0;
    dropTop(c);
    if (isTrue == wanted)
        c->at = target;
    return 1;
}

static int endHere(struct Calculator* c) {
    c->ended = 1;
    c->at = c->code->length;
    return 1;
}

static int carryOut(struct Calculator* c, uint32_t instruction, uint32_t operand) {
    switch (instruction) {
    case kPushConstant:
        return machinePush(c, numberShare(c->code->constants[operand]));
    case kPushOne:
        return pushTruth(c, 1);
    case kLoad:
        return load(c, operand);
    case kStore:
        return machineSetValue(c, operand, top(c));
    case kLoadElement:
        return machineLoadElement(c, operand);
    case kStoreElement:
        return machineStoreElement(c, operand);
    case kStepElement:
        return machineStepElement(c, operand);
    case kDuplicate:
        return machinePush(c, numberShare(top(c)));
    case kDrop:
        return dropTop(c);
    case kJump:
        c->at = operand;
        return 1;
    case kJumpIfZero:
        return jumpIf(c, operand, 0);
    case kJumpIfNotZero:
        return jumpIf(c, operand, 1);
    case kCall:
        return machineCall(c, operand);
    case kPassArray:
        return machinePush(c, numberFromInteger(&c->arithmetic, operand));
    case kGoBack:
        return machineGoBack(c);
    case kShow:
    case kWrite:
        return machineShow(c, instruction == kShow);
    case kWriteText:
        machineWriteText(c, c->code->texts[operand]);
        return 1;
    case kHaltNow:
        return endHere(c);
    default:
        if (instruction >= kAdd && instruction <= kPower)
            return calculate(c, instruction);
        if (instruction >= kLess && instruction <= kDifferent)
            return compare(c, instruction);
        return transform(c, instruction);
    }
}

static int mayGoOn(struct Calculator* c) {
    ++c->steps;
    if (c->limits.steps == 0 || c->steps + c->arithmetic.work <= c->limits.steps)
        return 1;
    c->spent = 1;
    return machineFail(c, "too many steps");
}

int machineRun(struct Calculator* c) {
    c->code = &c->line;
    c->at = 0;
    c->failure = NULL;
    while (c->failure == NULL && c->at < c->code->length) {
        const uint32_t* words = c->code->words + c->at;
        c->at += 2;
        if (mayGoOn(c))
            carryOut(c, words[0], words[1]);
    }
    machineUnwind(c);
    return c->failure == NULL;
}
