// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers divided, and what is made of division and multiplication: rest, power, root.
#include "number.h"
#include "number_parts.h"

#include <string.h>

/// The quotient of two whole numbers' limbs as a number of that scale; the signs are the numbers'.
static struct Number* divideLimbs(struct Arithmetic* arithmetic, const struct Number* a,
                                  const struct Number* b, size_t scale) {
    if (a->length < b->length) {
        struct Number* nothing = numberMake(arithmetic, 0, scale);
        return nothing == NULL ? NULL : numberDone(nothing, 0);
    }
    struct Number* made = numberMake(arithmetic, a->length - b->length + 1, scale);
    Limb* work = poolAllocate(arithmetic->pool, ((size_t)a->length + b->length + 1) * sizeof(Limb));
    if (made == NULL || work == NULL) {
        if (made != NULL)
            numberFail(arithmetic, kNoMemory);
        numberDrop(arithmetic, made);
        poolRelease(arithmetic->pool, work);
        return NULL;
    }
    limbsDivide(made->limbs, a->limbs, a->length, b->limbs, b->length, work);
    arithmetic->work += (uint64_t)b->length * made->length;
    poolRelease(arithmetic->pool, work);
    return numberDone(made, a->negative != b->negative);
}

struct Number* numberDivide(struct Arithmetic* arithmetic, const struct Number* a,
                            const struct Number* b, size_t scale) {
    if (b->length == 0)
        return numberFail(arithmetic, "divide by zero");
    const size_t wanted = scale + b->scale;
    if (wanted == a->scale)
        return divideLimbs(arithmetic, a, b, scale);
    // Either the dividend gets the digits that are missing, or the divisor those there are too
    // many.
    const struct Number* shifted = wanted > a->scale ? a : b;
    struct Number* longer = numberRescaled(
        arithmetic, shifted, wanted > a->scale ? wanted : (size_t)b->scale + (a->scale - wanted));
    if (longer == NULL)
        return NULL;
    struct Number* quotient = shifted == a ? divideLimbs(arithmetic, longer, b, scale)
                                           : divideLimbs(arithmetic, a, longer, scale);
    numberDrop(arithmetic, longer);
    return quotient;
}

struct Number* numberModulo(struct Arithmetic* arithmetic, const struct Number* a,
                            const struct Number* b, size_t scale) {
    struct Number* quotient = numberDivide(arithmetic, a, b, scale);
    if (quotient == NULL)
        return NULL;
    struct Number* whole = numberProduct(arithmetic, quotient, b);
    numberDrop(arithmetic, quotient);
    if (whole == NULL)
        return NULL;
    struct Number* rest = numberSubtract(arithmetic, a, whole);
    numberDrop(arithmetic, whole);
    return rest;
}

/// a^exponent with all its digits, by squaring.
static struct Number* raise(struct Arithmetic* arithmetic, const struct Number* a,
                            uint64_t exponent) {
    struct Number* result = numberFromInteger(arithmetic, 1);
    struct Number* square = numberRescaled(arithmetic, a, a->scale);
    while (result != NULL && square != NULL) {
        if (exponent % 2 == 1) {
            struct Number* product = numberProduct(arithmetic, result, square);
            numberDrop(arithmetic, result);
            result = product;
        }
        exponent /= 2;
        if (exponent == 0)
            break;
        struct Number* next = numberProduct(arithmetic, square, square);
        numberDrop(arithmetic, square);
        square = next;
    }
    if (square == NULL) {
        numberDrop(arithmetic, result);
        result = NULL;
    }
    numberDrop(arithmetic, square);
    return result;
}

/// Whether a^exponent has more digits than the limit, by little or by far. The answer is known
/// before the number is computed. What has hardly more is noticed on the way.
static int isTooLong(const struct Number* a, uint64_t exponent, size_t most) {
    if (a->length == 0)
        return 0;
    uint64_t bits = 0;
    while (a->limbs[a->length - 1] >> bits > 1)
        ++bits;
    // In hundred-thousandths of a digit; a bit has .30103.
    const uint64_t digits = (uint64_t)(a->length - 1) * kLimbDigits * 100000 + bits * 30102;
    return digits > (uint64_t)most * 100000 / exponent;
}

struct Number* numberPower(struct Arithmetic* arithmetic, const struct Number* a,
                           const struct Number* b, size_t scale) {
    const uint64_t exponent = numberWhole(b, INT32_MAX);
    if (exponent == 0)
        return numberFromInteger(arithmetic, 1);
    if (exponent > INT32_MAX)
        return numberFail(arithmetic, "exponent too large");
    if (isTooLong(a, exponent, arithmetic->mostDigits))
        return numberFail(arithmetic, "number too large");
    struct Number* power = raise(arithmetic, a, exponent);
    if (power == NULL)
        return NULL;
    if (!b->negative) {
        const size_t finest = scale > a->scale ? scale : a->scale;
        return numberCut(arithmetic, power, finest);
    }
    struct Number* one = numberFromInteger(arithmetic, 1);
    struct Number* inverse = one == NULL ? NULL : numberDivide(arithmetic, one, power, scale);
    numberDrop(arithmetic, one);
    numberDrop(arithmetic, power);
    return inverse;
}

/// One step of Newton's iteration for the root of a whole number: (guess + number / guess) / 2.
static struct Number* improve(struct Arithmetic* arithmetic, const struct Number* number,
                              const struct Number* guess) {
    struct Number* quotient = numberDivide(arithmetic, number, guess, 0);
    if (quotient == NULL)
        return NULL;
    struct Number* sum = numberAdd(arithmetic, guess, quotient);
    numberDrop(arithmetic, quotient);
    if (sum == NULL)
        return NULL;
    limbsOver(sum->limbs, sum->limbs, sum->length, 2); // not shared yet
    return numberDone(sum, 0);
}

/// The largest whole number whose square is not more than `number`, which is whole and not zero.
static struct Number* wholeRoot(struct Arithmetic* arithmetic, const struct Number* number) {
    struct Number* one = numberFromInteger(arithmetic, 1);
    if (one == NULL)
        return NULL;
    const size_t digits = (limbsDigits(number->limbs, number->length) + 1) / 2;
    struct Number* guess = numberRescaled(arithmetic, one, digits); // not less than the root
    numberDrop(arithmetic, one);
    if (guess == NULL)
        return NULL;
    guess->scale = 0;
    for (;;) {
        struct Number* better = improve(arithmetic, number, guess);
        if (better != NULL &&
            limbsCompare(better->limbs, better->length, guess->limbs, guess->length) >= 0) {
            numberDrop(arithmetic, better);
            return guess;
        }
        numberDrop(arithmetic, guess);
        if (better == NULL)
            return NULL;
        guess = better;
    }
}

static int isPowerOfTen(const struct Number* a) {
    Limb top = a->limbs[a->length - 1];
    while (top % 10 == 0)
        top /= 10;
    return top == 1 && limbsTrimmed(a->limbs, a->length - 1) == 0;
}

struct Number* numberRoot(struct Arithmetic* arithmetic, const struct Number* a, size_t scale) {
    if (a->negative)
        return numberFail(arithmetic, "square root of a negative number");
    if (a->length == 0)
        return numberFromInteger(arithmetic, 0);
    const size_t fine = scale > a->scale ? scale : a->scale;
    if (limbsDigits(a->limbs, a->length) == (size_t)a->scale + 1 && isPowerOfTen(a))
        return numberFromInteger(arithmetic, 1); // of 1, however written, as bc has it
    struct Number* whole = numberRescaled(arithmetic, a, 2 * fine);
    if (whole == NULL)
        return NULL;
    whole->scale = 0;
    struct Number* root = wholeRoot(arithmetic, whole);
    numberDrop(arithmetic, whole);
    if (root != NULL)
        root->scale = (uint32_t)fine;
    return root;
}
