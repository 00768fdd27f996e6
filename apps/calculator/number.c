// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversion, comparison, addition and multiplication. Division is in quotient.c.
#include "number.h"
#include "number_parts.h"

#include <string.h>

struct Number* numberFromInteger(struct Arithmetic* arithmetic, uint64_t value) {
    struct Number* made = numberMake(arithmetic, 3, 0);
    if (made == NULL)
        return NULL;
    for (size_t i = 0; i < 3; ++i) {
        made->limbs[i] = (Limb)(value % kLimbBase);
        value /= kLimbBase;
    }
    return numberDone(made, 0);
}

static Limb valueOf(char digit, int alone) {
    if (digit >= 'A')
        return alone ? (Limb)(digit - 'A' + 10) : 9;
    return (Limb)(digit - '0');
}

struct Number* numberFromText(struct Arithmetic* arithmetic, const char* text, size_t length) {
    const char* point = memchr(text, '.', length);
    const size_t scale = point == NULL ? 0 : length - (size_t)(point - text) - 1;
    struct Number* made = numberMake(arithmetic, length / kLimbDigits + 1, scale);
    if (made == NULL)
        return NULL;
    memset(made->limbs, 0, made->length * sizeof(Limb));
    size_t place = 0;
    Limb power = 1;
    for (size_t i = length; i-- > 0;) {
        if (text[i] == '.')
            continue;
        made->limbs[place / kLimbDigits] += valueOf(text[i], length == 1) * power;
        power = ++place % kLimbDigits == 0 ? 1 : power * 10;
    }
    return numberDone(made, 0);
}

char* numberText(struct Arithmetic* arithmetic, const struct Number* number, size_t* length) {
    const size_t digits = limbsDigits(number->limbs, number->length);
    const size_t scale = digits == 0 ? 0 : number->scale;
    const size_t shown = digits > scale ? digits : scale == 0 ? 1 : scale;
    *length = shown + (scale > 0) + number->negative;
    char* text = poolAllocate(arithmetic->pool, *length);
    if (text == NULL) {
        numberFail(arithmetic, kNoMemory);
        return NULL;
    }
    char* end = text + *length;
    Limb limb = 0;
    for (size_t place = 0; place < shown; ++place) {
        if (place == scale && scale > 0)
            *--end = '.';
        if (place % kLimbDigits == 0)
            limb = place / kLimbDigits < number->length ? number->limbs[place / kLimbDigits] : 0;
        *--end = (char)('0' + limb % 10);
        limb /= 10;
    }
    if (shown == scale && scale > 0)
        *--end = '.';
    if (number->negative)
        *--end = '-';
    return text;
}

/// a + b, or a - b if the signs differ: of two numbers of the same scale.
static struct Number* combine(struct Arithmetic* arithmetic, const struct Number* a,
                              const struct Number* b, int bNegative) {
    const int order = limbsCompare(a->limbs, a->length, b->limbs, b->length);
    const struct Number* large = order < 0 ? b : a;
    const struct Number* small = order < 0 ? a : b;
    struct Number* made = numberMake(arithmetic, large->length + 1, a->scale);
    if (made == NULL)
        return NULL;
    const int largeNegative = order < 0 ? bNegative : (int)a->negative;
    if ((int)a->negative == bNegative) {
        limbsAdd(made->limbs, large->limbs, large->length, small->limbs, small->length);
    } else {
        limbsSubtract(made->limbs, large->limbs, large->length, small->limbs, small->length);
        made->limbs[large->length] = 0;
    }
    return numberDone(made, largeNegative);
}

static struct Number* addSigned(struct Arithmetic* arithmetic, const struct Number* a,
                                const struct Number* b, int bNegative) {
    if (a->scale == b->scale)
        return combine(arithmetic, a, b, bNegative);
    const struct Number* coarse = a->scale < b->scale ? a : b;
    struct Number* fine = numberRescaled(arithmetic, coarse, coarse == a ? b->scale : a->scale);
    if (fine == NULL)
        return NULL;
    struct Number* sum = coarse == a ? combine(arithmetic, fine, b, bNegative)
                                     : combine(arithmetic, a, fine, bNegative);
    numberDrop(arithmetic, fine);
    return sum;
}

struct Number* numberAdd(struct Arithmetic* arithmetic, const struct Number* a,
                         const struct Number* b) {
    return addSigned(arithmetic, a, b, (int)b->negative);
}

struct Number* numberSubtract(struct Arithmetic* arithmetic, const struct Number* a,
                              const struct Number* b) {
    return addSigned(arithmetic, a, b, b->length > 0 && !b->negative);
}

struct Number* numberNegate(struct Arithmetic* arithmetic, const struct Number* a) {
    struct Number* made = numberMake(arithmetic, a->length, a->scale);
    if (made == NULL)
        return NULL;
    memcpy(made->limbs, a->limbs, a->length * sizeof(Limb));
    return numberDone(made, !a->negative);
}

struct Number* numberMultiply(struct Arithmetic* arithmetic, const struct Number* a,
                              const struct Number* b, size_t scale) {
    struct Number* exact = numberProduct(arithmetic, a, b);
    const size_t finest = a->scale > b->scale ? a->scale : b->scale;
    return numberCut(arithmetic, exact, scale > finest ? scale : finest);
}

int numberCompare(struct Arithmetic* arithmetic, const struct Number* a, const struct Number* b,
                  int* order) {
    if (a->scale == b->scale && a->negative == b->negative) {
        const int sizes = limbsCompare(a->limbs, a->length, b->limbs, b->length);
        *order = a->negative ? -sizes : sizes;
        return 1;
    }
    struct Number* difference = numberSubtract(arithmetic, a, b);
    if (difference == NULL)
        return 0;
    *order = difference->length == 0 ? 0 : difference->negative ? -1 : 1;
    numberDrop(arithmetic, difference);
    return 1;
}

size_t numberDigits(const struct Number* number) {
    const size_t digits = limbsDigits(number->limbs, number->length);
    if (digits > number->scale)
        return digits;
    return number->scale == 0 ? 1 : number->scale;
}

uint64_t numberWhole(const struct Number* number, uint64_t most) {
    const size_t digits = limbsDigits(number->limbs, number->length);
    uint64_t value = 0;
    for (size_t place = digits; place-- > number->scale;) {
        Limb limb = number->limbs[place / kLimbDigits];
        for (size_t below = place % kLimbDigits; below > 0; --below)
            limb /= 10;
        if (value > (most - limb % 10) / 10)
            return most + 1;
        value = value * 10 + limb % 10;
    }
    return value;
}
