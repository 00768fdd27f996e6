// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Schoolbook arithmetic. Long division is algorithm D of Knuth, The Art of Computer Programming,
// volume 2, section 4.3.1.
#include "limbs.h"

#include <string.h>

static const Limb kPowers[kLimbDigits] = {1,      10,      100,      1000,     10000,
                                          100000, 1000000, 10000000, 100000000};

size_t limbsTrimmed(const Limb* a, size_t length) {
    while (length > 0 && a[length - 1] == 0)
        --length;
    return length;
}

size_t limbsDigits(const Limb* a, size_t length) {
    if (length == 0)
        return 0;
    size_t digits = 1;
    while (digits < kLimbDigits && a[length - 1] >= kPowers[digits])
        ++digits;
    return (length - 1) * kLimbDigits + digits;
}

int limbsCompare(const Limb* a, size_t aLength, const Limb* b, size_t bLength) {
    if (aLength != bLength)
        return aLength < bLength ? -1 : 1;
    for (size_t i = aLength; i-- > 0;) {
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    }
    return 0;
}

void limbsAdd(Limb* sum, const Limb* a, size_t aLength, const Limb* b, size_t bLength) {
    Limb carry = 0;
    for (size_t i = 0; i < aLength; ++i) {
        const Limb digit = a[i] + (i < bLength ? b[i] : 0) + carry;
        carry = digit >= kLimbBase;
        sum[i] = carry ? digit - kLimbBase : digit;
    }
    sum[aLength] = carry;
}

void limbsSubtract(Limb* difference, const Limb* a, size_t aLength, const Limb* b, size_t bLength) {
    Limb borrow = 0;
    for (size_t i = 0; i < aLength; ++i) {
        const Limb taken = (i < bLength ? b[i] : 0) + borrow;
        borrow = a[i] < taken;
        difference[i] = borrow ? a[i] + kLimbBase - taken : a[i] - taken;
    }
}

void limbsMultiply(Limb* product, const Limb* a, size_t aLength, const Limb* b, size_t bLength) {
    memset(product, 0, (aLength + bLength) * sizeof(Limb));
    for (size_t i = 0; i < aLength; ++i) {
        uint64_t carry = 0;
        for (size_t j = 0; j < bLength; ++j) {
            carry += (uint64_t)a[i] * b[j] + product[i + j];
            product[i + j] = (Limb)(carry % kLimbBase);
            carry /= kLimbBase;
        }
        product[i + bLength] = (Limb)carry;
    }
}

void limbsTimes(Limb* product, const Limb* a, size_t aLength, Limb factor) {
    uint64_t carry = 0;
    for (size_t i = 0; i < aLength; ++i) {
        carry += (uint64_t)a[i] * factor;
        product[i] = (Limb)(carry % kLimbBase);
        carry /= kLimbBase;
    }
    product[aLength] = (Limb)carry;
}

Limb limbsOver(Limb* quotient, const Limb* a, size_t aLength, Limb divisor) {
    uint64_t rest = 0;
    for (size_t i = aLength; i-- > 0;) {
        rest = rest * kLimbBase + a[i];
        quotient[i] = (Limb)(rest / divisor);
        rest %= divisor;
    }
    return (Limb)rest;
}

/// The digit of the quotient for the top of u, at most one too large. It is computed from its three
/// highest limbs and the two highest of v.
static uint64_t estimate(const Limb* u, const Limb* v, size_t length) {
    const uint64_t top = (uint64_t)u[length] * kLimbBase + u[length - 1];
    uint64_t digit = top / v[length - 1];
    uint64_t rest = top % v[length - 1];
    while (digit >= kLimbBase || digit * v[length - 2] > rest * kLimbBase + u[length - 2]) {
        --digit;
        rest += v[length - 1];
        if (rest >= kLimbBase)
            break;
    }
    return digit;
}

/// u -= digit * v; answers whether that was too much, and then adds v once.
static int takeTimes(Limb* u, const Limb* v, size_t length, uint64_t digit) {
    uint64_t carry = 0;
    for (size_t i = 0; i < length; ++i) {
        carry += digit * v[i];
        const Limb taken = (Limb)(carry % kLimbBase);
        carry /= kLimbBase;
        if (u[i] < taken) {
            u[i] += kLimbBase;
            ++carry;
        }
        u[i] -= taken;
    }
    if (u[length] >= carry) {
        u[length] -= (Limb)carry;
        return 0;
    }
    u[length] = 0; // the carry of the addition would bring it there
    Limb over = 0;
    for (size_t i = 0; i < length; ++i) {
        const Limb sum = u[i] + v[i] + over;
        over = sum >= kLimbBase;
        u[i] = over ? sum - kLimbBase : sum;
    }
    return 1;
}

void limbsDivide(Limb* quotient, const Limb* a, size_t aLength, const Limb* b, size_t bLength,
                 Limb* work) {
    if (bLength == 1) {
        limbsOver(quotient, a, aLength, b[0]);
        return;
    }
    Limb* u = work;
    Limb* v = work + aLength + 1;
    const Limb factor = kLimbBase / (b[bLength - 1] + 1); // lets v begin with a large limb
    limbsTimes(u, a, aLength, factor);
    uint64_t carry = 0;
    for (size_t i = 0; i < bLength; ++i) {
        carry += (uint64_t)b[i] * factor;
        v[i] = (Limb)(carry % kLimbBase);
        carry /= kLimbBase;
    }
    for (size_t i = aLength - bLength + 1; i-- > 0;) {
        uint64_t digit = estimate(u + i, v, bLength);
        digit -= (uint64_t)takeTimes(u + i, v, bLength, digit);
        quotient[i] = (Limb)digit;
    }
}

void limbsShiftUp(Limb* result, const Limb* a, size_t aLength, size_t digits) {
    const size_t whole = digits / kLimbDigits;
    memset(result, 0, whole * sizeof(Limb));
    limbsTimes(result + whole, a, aLength, kPowers[digits % kLimbDigits]);
}

void limbsShiftDown(Limb* result, const Limb* a, size_t aLength, size_t digits) {
    const size_t whole = digits / kLimbDigits;
    if (whole < aLength)
        limbsOver(result, a + whole, aLength - whole, kPowers[digits % kLimbDigits]);
}
