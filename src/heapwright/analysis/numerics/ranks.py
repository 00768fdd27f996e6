# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks, Kendall's tau, and the slope of Theil and Sen.

Source: Kendall (1975), Rank Correlation Methods; Sen (1968), Estimates of the regression
coefficient based on Kendall's tau.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heapwright.analysis.numerics.distributions import normal_quantile, normal_tail

Floats = NDArray[np.float64]

_MOST_EXACT = 33
"""Up to this number of values without ties, the chance comes from the count of all orders."""


@dataclass(frozen=True, slots=True)
class Association:
    """Kendall's tau-b, and the chance of one as far from 0 in a random order; NaN if all are
    tied or one value is NaN."""

    tau: float
    p: float


@dataclass(frozen=True, slots=True)
class Slope:
    """The median of the slopes of all pairs, and its interval."""

    middle: float
    low: float
    high: float


def average_ranks(values: ArrayLike) -> Floats:
    """From 1; equal values share the mean of their ranks. All NaN if one value is. Shape (n,)."""
    given = np.asarray(values, dtype=np.float64)
    if np.isnan(given).any():
        return np.full(len(given), math.nan)
    _, place, count = np.unique(given, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    ranks: Floats = (last - (count - 1) / 2)[place]
    return ranks


def kendall(first: ArrayLike, second: ArrayLike) -> Association:
    """The agreement of the orders of two sequences of equal length."""
    one, two = average_ranks(first), average_ranks(second)
    n = len(one)
    earlier, later = np.triu_indices(n, k=1)
    signs = np.sign(one[later] - one[earlier]) * np.sign(two[later] - two[earlier])
    pairs, score = len(earlier), float(signs.sum())
    ties = [_ties(each) for each in (one, two)]
    tied = [float((each * (each - 1)).sum()) / 2 for each in ties]
    if pairs in tied or not pairs or math.isnan(score):
        return Association(math.nan, math.nan)
    tau = score / math.sqrt((pairs - tied[0]) * (pairs - tied[1]))
    if not any(tied) and n <= _MOST_EXACT:
        return Association(tau, _exact(n, round((pairs - abs(score)) / 2)))
    variance = (n * (n - 1) * (2 * n + 5) - sum(_weighted(each) for each in ties)) / 18
    variance += 2 * tied[0] * tied[1] / (n * (n - 1))
    triples = [float((each * (each - 1) * (each - 2)).sum()) for each in ties]
    variance += triples[0] * triples[1] / (9 * n * (n - 1) * max(n - 2, 1))
    return Association(tau, min(2 * normal_tail(abs(score) / math.sqrt(variance)), 1.0))


def theil_sen(y: ArrayLike, x: ArrayLike, confidence: float = 0.95) -> Slope:
    """The robust slope of `y` over `x`; NaN if all `x` are equal. Cost: O(n^2)."""
    ys, xs = (np.asarray(each, dtype=np.float64) for each in (y, x))
    n = len(ys)
    earlier, later = np.triu_indices(n, k=1)
    apart = xs[later] - xs[earlier]
    differ = apart != 0
    slopes = np.sort((ys[later] - ys[earlier])[differ] / apart[differ])
    if not len(slopes):
        return Slope(math.nan, math.nan, math.nan)
    ties = _weighted(_ties(ys)) + _weighted(_ties(xs))
    spread = math.sqrt(max(n * (n - 1) * (2 * n + 5) - ties, 0.0) / 18)
    reach = normal_quantile((1 + confidence) / 2) * spread
    low = max(round((len(slopes) - reach) / 2) - 1, 0)
    high = min(round((len(slopes) + reach) / 2), len(slopes) - 1)
    return Slope(float(np.median(slopes)), float(slopes[low]), float(slopes[high]))


def _ties(values: Floats) -> Floats:
    """How often each value occurs."""
    return np.unique(values, return_counts=True)[1].astype(np.float64)


def _weighted(ties: Floats) -> float:
    return float((ties * (ties - 1) * (2 * ties + 5)).sum())


def _exact(n: int, inversions: int) -> float:
    """The chance that a random order of n has as few or as many inversions.

    The orders of n with k inversions are those of n - 1 with k - n + 1 to k.
    """
    orders = [1]
    for size in range(2, n + 1):
        sums = [0]
        for each in orders:
            sums.append(sums[-1] + each)
        longest = len(orders) + size - 1
        orders = [
            sums[min(k + 1, len(orders))] - sums[max(k - size + 1, 0)] for k in range(longest)
        ]
    return min(2 * sum(orders[: inversions + 1]) / math.factorial(n), 1.0)
