// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls, and the arrays that may be passed with them by value.
#include "machine.h"

enum { kMostCalls = 100000 };

/// The index on top of the stack, which goes; answers whether it is one.
static int popIndex(struct Calculator* c, size_t* index) {
    struct Number* number = machinePop(c);
    const uint64_t whole = numberWhole(number, c->limits.elements);
    const int wrong = whole >= c->limits.elements || (number->negative && whole > 0);
    numberDrop(&c->arithmetic, number);
    *index = (size_t)whole;
    return !wrong || machineFail(c, "subscript out of bounds");
}

static struct Number* elementAt(const struct Calculator* c, uint32_t name, size_t index) {
    const struct Array* array = c->names.all[name]->array;
    if (array == NULL || index >= array->length || array->elements[index] == NULL)
        return c->zero;
    return array->elements[index];
}

static struct Array* makeArray(struct Calculator* c, size_t length) {
    struct Array* made = poolAllocate(&c->pool, sizeof *made);
    struct Number** elements = poolAllocate(&c->pool, length * sizeof *elements);
    if (made == NULL || elements == NULL) {
        poolRelease(&c->pool, made);
        poolRelease(&c->pool, elements);
        machineFail(c, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < length; ++i)
        elements[i] = NULL;
    *made = (struct Array){elements, length};
    return made;
}

static int reach(struct Calculator* c, uint32_t name, size_t index) {
    struct Array* array = c->names.all[name]->array;
    if (array != NULL && index < array->length)
        return 1;
    size_t length = array == NULL ? 8 : array->length;
    while (length <= index)
        length *= 2;
    struct Array* longer = makeArray(c, length);
    if (longer == NULL)
        return 0;
    c->arithmetic.work += length;
    if (array != NULL) {
        for (size_t i = 0; i < array->length; ++i)
            longer->elements[i] = array->elements[i];
        array->length = 0; // its numbers are the longer one's now
        arrayDestroy(&c->arithmetic, array);
    }
    c->names.all[name]->array = longer;
    return 1;
}

static int setElement(struct Calculator* c, uint32_t name, size_t index, struct Number* number) {
    if (!reach(c, name, index))
        return 0;
    struct Number** element = &c->names.all[name]->array->elements[index];
    numberDrop(&c->arithmetic, *element);
    *element = numberShare(number);
    return 1;
}

int machineLoadElement(struct Calculator* c, uint32_t name) {
    size_t index = 0;
    return popIndex(c, &index) && machinePush(c, numberShare(elementAt(c, name, index)));
}

int machineStoreElement(struct Calculator* c, uint32_t name) {
    struct Number* value = machinePop(c);
    size_t index = 0;
    if (popIndex(c, &index) && setElement(c, name, index, value))
        return machinePush(c, value);
    numberDrop(&c->arithmetic, value);
    return 0;
}

int machineStepElement(struct Calculator* c, uint32_t name) {
    struct Number* step = machinePop(c);
    size_t index = 0;
    struct Number* sum = NULL;
    int done = popIndex(c, &index) && machinePush(c, numberShare(elementAt(c, name, index)));
    if (done) {
        sum = numberAdd(&c->arithmetic, c->stack[c->stackCount - 1], step);
        done =
            sum == NULL ? machineFail(c, c->arithmetic.failure) : setElement(c, name, index, sum);
    }
    numberDrop(&c->arithmetic, sum);
    numberDrop(&c->arithmetic, step);
    return done;
}

static int copyArray(struct Calculator* c, const struct Array* array, struct Array** copy) {
    if (array == NULL)
        return 1;
    *copy = makeArray(c, array->length);
    if (*copy == NULL)
        return 0;
    c->arithmetic.work += array->length;
    for (size_t i = 0; i < array->length; ++i) {
        if (array->elements[i] != NULL)
            (*copy)->elements[i] = numberShare(array->elements[i]);
    }
    return 1;
}

static void exchange(struct Calculator* c, struct Exchanged* entry) {
    struct Name* name = c->names.all[entry->local.name];
    if (entry->local.isArray) {
        struct Array* array = name->array;
        name->array = entry->array;
        entry->array = array;
    } else {
        struct Number* value = name->value;
        name->value = entry->value;
        entry->value = value;
        if (entry->local.name == kScaleName) // was within the limits when it was set
            c->scale = name->value == NULL
                           ? 0
                           : (size_t)numberWhole(name->value, c->arithmetic.mostDigits);
    }
}

static void discard(struct Calculator* c, size_t down) {
    while (c->exchangedCount > down) {
        const struct Exchanged* entry = &c->exchanged[--c->exchangedCount];
        numberDrop(&c->arithmetic, entry->value);
        arrayDestroy(&c->arithmetic, entry->array);
    }
}

static int fits(const struct Function* function, const struct Text* kinds) {
    if (kinds->length != function->parameterCount)
        return 0;
    for (size_t i = 0; i < kinds->length; ++i) {
        if ((kinds->bytes[i] == 'a') != (function->locals[i].isArray != 0))
            return 0;
    }
    return 1;
}

/// What the names of a function are to stand for, beside what they still stand for: an argument
/// may be named like a parameter.
static int prepare(struct Calculator* c, const struct Function* function) {
    struct Number** arguments = c->stack + c->stackCount - function->parameterCount;
    if (!poolGrow(&c->pool, &c->exchanged, c->exchangedCount, function->localCount,
                  sizeof *c->exchanged, &c->exchangedRoom))
        return machineFail(c, "out of memory");
    for (size_t i = 0; i < function->localCount; ++i) {
        struct Exchanged* entry = &c->exchanged[c->exchangedCount++];
        *entry = (struct Exchanged){function->locals[i], NULL, NULL};
        if (i >= function->parameterCount)
            continue;
        if (!entry->local.isArray)
            entry->value = numberShare(arguments[i]);
        else if (!copyArray(c, c->names.all[numberWhole(arguments[i], UINT32_MAX)]->array,
                            &entry->array))
            return 0;
    }
    return 1;
}

int machineCall(struct Calculator* c, uint32_t name) {
    const struct Function* function = c->names.all[name]->function;
    const struct Text* kinds = c->code->texts[c->code->words[c->at + 1]];
    if (function == NULL)
        return machineFail(c, "function not defined");
    if (!fits(function, kinds))
        return machineFail(c, "arguments do not fit the parameters");
    if (c->frameCount == kMostCalls)
        return machineFail(c, "too many calls in each other");
    if (!poolGrow(&c->pool, &c->frames, c->frameCount, 1, sizeof *c->frames, &c->frameRoom))
        return machineFail(c, "out of memory");
    const size_t before = c->exchangedCount;
    if (!prepare(c, function)) {
        discard(c, before);
        return 0;
    }
    for (size_t i = before; i < c->exchangedCount; ++i)
        exchange(c, &c->exchanged[i]);
    for (size_t i = 0; i < function->parameterCount; ++i)
        numberDrop(&c->arithmetic, machinePop(c));
    c->frames[c->frameCount++] = (struct Frame){c->code, c->at + 2, before};
    c->code = &function->code;
    c->at = 0;
    return 1;
}

int machineGoBack(struct Calculator* c) {
    const struct Frame frame = c->frames[--c->frameCount];
    for (size_t i = c->exchangedCount; i-- > frame.locals;)
        exchange(c, &c->exchanged[i]);
    discard(c, frame.locals);
    c->code = frame.code;
    c->at = frame.at;
    return 1;
}

void machineUnwind(struct Calculator* c) {
    while (c->frameCount > 0)
        machineGoBack(c);
    while (c->stackCount > 0)
        numberDrop(&c->arithmetic, machinePop(c));
}
