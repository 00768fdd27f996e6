// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The creation, release and scaling of numbers.
#include "number_parts.h"

struct Number* numberShare(struct Number* number) {
    ++number->references;
    return number;
}

void numberDrop(struct Arithmetic* arithmetic, struct Number* number) {
    if (number != NULL && --number->references == 0)
        poolRelease(arithmetic->pool, number);
}

struct Number* numberFail(struct Arithmetic* arithmetic, const char* why) {
    arithmetic->failure = why;
    return NULL;
}

struct Number* numberMake(struct Arithmetic* arithmetic, size_t length, size_t scale) {
    if (length > arithmetic->mostDigits / kLimbDigits + 2 || scale > arithmetic->mostDigits)
        return numberFail(arithmetic, "number too large");
    arithmetic->work += length;
    struct Number* made =
        poolAllocate(arithmetic->pool, sizeof(struct Number) + length * sizeof(Limb));
    if (made == NULL)
        return numberFail(arithmetic, kNoMemory);
    made->references = 1;
    made->negative = 0;
    made->scale = (uint32_t)scale;
    made->length = (uint32_t)length;
    return made;
}

struct Number* numberDone(struct Number* number, int negative) {
    number->length = (uint32_t)limbsTrimmed(number->limbs, number->length);
    number->negative = negative && number->length > 0;
    return number;
}

struct Number* numberRescaled(struct Arithmetic* arithmetic, const struct Number* a, size_t scale) {
    struct Number* made = NULL;
    if (scale >= a->scale) {
        const size_t digits = scale - a->scale;
        made = numberMake(arithmetic, a->length + digits / kLimbDigits + 1, scale);
        if (made != NULL)
            limbsShiftUp(made->limbs, a->limbs, a->length, digits);
    } else {
        const size_t digits = a->scale - scale;
        const size_t gone = digits / kLimbDigits;
        made = numberMake(arithmetic, a->length > gone ? a->length - gone : 0, scale);
        if (made != NULL)
            limbsShiftDown(made->limbs, a->limbs, a->length, digits);
    }
    return made == NULL ? NULL : numberDone(made, (int)a->negative);
}

struct Number* numberProduct(struct Arithmetic* arithmetic, const struct Number* a,
                             const struct Number* b) {
    struct Number* made =
        numberMake(arithmetic, (size_t)a->length + b->length, (size_t)a->scale + b->scale);
    if (made == NULL)
        return NULL;
    limbsMultiply(made->limbs, a->limbs, a->length, b->limbs, b->length);
    arithmetic->work += (uint64_t)a->length * b->length;
    return numberDone(made, a->negative != b->negative);
}

struct Number* numberCut(struct Arithmetic* arithmetic, struct Number* number, size_t scale) {
    if (number == NULL || number->scale <= scale)
        return number;
    struct Number* cut = numberRescaled(arithmetic, number, scale);
    numberDrop(arithmetic, number);
    return cut;
}
