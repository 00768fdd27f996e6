# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The normal distribution, Student's t and Fisher's F.

Both tails of t and F are values of the regularised incomplete beta function I. It is a continued
fraction that converges on one side of its mean. The other side is 1 - I with swapped arguments.
Small chances keep their relative accuracy, because no chance is the difference of two others.

Accuracy: relative 1e-12 for the normal distribution. For t and F 1e-10 for up to a million degrees
of freedom, and 1e-7 for more.
Cost: some 20 steps for each value, and the square root of the degrees of freedom for many of them.

Source: DLMF 8.17.22 (the fraction), 26.5.17 in Abramowitz and Stegun (its steps); Lentz (1976).
"""

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_TINY = 1e-300
_CLOSE = 1e-15
_LARGE = 1e3
"""From here on, differences of logarithms of the gamma function use Stirling's series."""
_FAR = 1e10
"""From here on, t has so small an x that the second term of I_x is 1e-20 of the first."""
_NEARLY_NORMAL = 1e9
"""With more degrees of freedom, t is taken as normal."""
_STANDARD = NormalDist()


def normal_cdf(values: ArrayLike) -> Floats:
    """The chance that a standard normal variable is below each value; shape of `values`."""
    scaled = np.asarray(values, dtype=np.float64) / -math.sqrt(2)
    chances = np.fromiter(map(math.erfc, scaled.ravel().tolist()), np.float64, scaled.size)
    return chances.reshape(scaled.shape) / 2


def normal_quantile(chance: float) -> float:
    """What a standard normal variable is below with this chance; infinite for 0 and 1.

    NaN if there is no such chance.
    """
    if not 0 <= chance <= 1:
        return math.nan
    if chance in {0, 1}:
        return math.copysign(math.inf, chance - 0.5)
    return _STANDARD.inv_cdf(chance)


def normal_quantiles(chances: Floats) -> Floats:
    """The same for each chance in (0, 1); shape of `chances`."""
    found = map(_STANDARD.inv_cdf, chances.ravel().tolist())
    return np.fromiter(found, np.float64, chances.size).reshape(chances.shape)


def normal_tail(value: float) -> float:
    """The chance that a standard normal variable is above `value`."""
    return math.erfc(value / math.sqrt(2)) / 2


def student_cdf(value: float, df: float) -> float:
    """The chance that t with `df` degrees of freedom is below `value`."""
    return student_tail(-value, df)


def student_tail(value: float, df: float) -> float:
    """The chance that t with `df` degrees of freedom is above `value`."""
    if df > _NEARLY_NORMAL:
        return normal_tail(value)
    if value < 0:
        return 1.0 - student_tail(-value, df)
    scaled = value / math.sqrt(df)
    if scaled > _FAR:
        # the first term of I_x, with x = scaled^-2, which a number may be too small to hold
        return math.exp(-df * math.log(scaled) - _log_beta(df / 2, 0.5)) / df
    square = value * value
    return _beta(df / 2, 0.5, df / (df + square), square / (df + square)) / 2


def student_quantile(chance: float, df: float) -> float:
    """What t with `df` degrees of freedom is below with this chance; infinite for 0 and 1.

    NaN if there is no such chance or no such t.
    """
    if not df > 0:
        return math.nan
    if df > _NEARLY_NORMAL or not 0 < chance < 1:
        return normal_quantile(chance)
    if chance <= 0.5:
        return -_student_upper(chance, df) if chance < 0.5 else 0.0
    return _student_upper(1 - chance, df)


def fisher_tail(first: float, second: float, value: float) -> float:
    """The chance that F with these degrees of freedom is above `value`."""
    if value <= 0:
        return 1.0
    if math.isinf(value):
        return 0.0
    whole = second + first * value
    return _beta(second / 2, first / 2, second / whole, first * value / whole)


def _student_upper(tail: float, df: float) -> float:
    """The value that t exceeds with the chance `tail`, which is below 1/2.

    Newton's steps on the logarithm of the chance, and bisection where a step leaves the bracket.
    """
    low, high = 0.0, 1.0
    while student_tail(high, df) > tail:
        low, high = high, 2 * high
    # the density is exp(constant) (1 + t^2 / df)^-(df + 1)/2
    constant = -_log_beta(df / 2, 0.5) - math.log(df) / 2
    value = (low + high) / 2
    for _ in range(200):
        chance = student_tail(value, df)
        low, high = (value, high) if chance > tail else (low, value)
        following = math.inf
        if chance > 0:
            log_density = constant - (df + 1) * math.log(math.hypot(1, value / math.sqrt(df)))
            excess = math.log(chance) - math.log(tail)
            following = value + excess * math.exp(math.log(chance) - log_density)
        if not low <= following <= high:
            following = (low + high) / 2
        if abs(following - value) <= 4e-16 * value:
            return following
        value = following
    return value


def _beta(a: float, b: float, x: float, y: float) -> float:
    """I_x(a, b) for x + y = 1; both are given, because a difference from 1 loses digits."""
    if math.isnan(x):
        return math.nan
    if x <= 0:
        return 0.0
    if y <= 0:
        return 1.0
    log_x = math.log(x) if x < 0.5 else math.log1p(-y)
    log_y = math.log(y) if y < 0.5 else math.log1p(-x)
    front = math.exp(a * log_x + b * log_y - _log_beta(a, b))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, y) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of I_x(a, b) from its front to its back."""
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, 1_000_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = 1.0
        for part in (even, odd):
            d = 1 + part * d
            d = 1 / (d if abs(d) > _TINY else _TINY)
            c = 1 + part / c
            c = c if abs(c) > _TINY else _TINY
            change = c * d
            value *= change
        if abs(change - 1) < _CLOSE:
            break
    return value


def _log_beta(a: float, b: float) -> float:
    """log B(a, b)."""
    small, large = min(a, b), max(a, b)
    if large < _LARGE:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    # log gamma(large) - log gamma(large + small), each by Stirling's series
    ratio = small - (large - 0.5) * math.log1p(small / large) - small * math.log(large + small)
    return math.lgamma(small) + ratio + _stirling(large) - _stirling(large + small)


def _stirling(x: float) -> float:
    """What Stirling's formula lacks of log gamma(x)."""
    return 1 / (12 * x) - 1 / (360 * x**3)
