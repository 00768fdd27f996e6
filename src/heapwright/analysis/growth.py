# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The growth of a series, with an interval that allows for autocorrelation.

The slope is the median of those between all pairs of points (Theil 1950; Sen 1968). A few peaks, as
from a burst of load, do not move it. Its interval comes from Kendall's S. The variance of S is that
of independent points with ties, times a factor. The factor is for the autocorrelation of the ranks
of the residuals (Hamed and Rao 1998). Only significant autocorrelations count, and the factor is at
least
1. The interval is that of the slopes at the ranks that S gives (Gilbert 1987, section 16.5).

Coverage of 95 % intervals, over 200 generated series of 80 points: It is 94 % if points are
independent. It is 86 % if each has a correlation of 0.5 with the last
(tests/lab/analysis/test_growth.py). A growth that is barely significant needs a longer run.

Points are medians of equal stretches of time, at most `POINTS`. A long series therefore costs no
more than a short one, O(POINTS²), and the noise between samples is removed.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapwright.analysis.numerics.distributions import normal_quantile
from heapwright.analysis.numerics.ranks import average_ranks

Floats = NDArray[np.float64]

POINTS = 96
FEWEST = 12
"""Fewest points for an interval: below that, autocorrelation and chance cannot be separated."""
SIGNIFICANT = 0.95
"""Of autocorrelations that are counted."""


@dataclass(frozen=True, slots=True)
class Growth:
    """In units of the values for each unit of time."""

    slope: float
    low: float
    high: float
    level: float
    """The median of the points."""
    points: int
    inflation: float
    """Of the variance of S, by autocorrelation."""


def growth(times: Floats, values: Floats, confidence: float = 0.95) -> Growth | None:
    """The growth of `values`, shape (n,), over rising `times`; None for too few values.

    An interval of points that do not change at all has no width.
    """
    at, points = thinned(times, values)
    n = len(points)
    if n < FEWEST:
        return None
    slopes = np.sort(_slopes(at, points))
    middle = float(np.median(slopes))
    inflation = autocorrelation_factor(points - middle * at)
    spread = math.sqrt(_variance(points) * inflation)
    reach = normal_quantile((1 + confidence) / 2) * spread
    pairs = len(slopes)
    low = max(math.floor((pairs - reach) / 2) - 1, 0)
    high = min(math.ceil((pairs + reach) / 2), pairs - 1)
    level = float(np.median(points))
    return Growth(middle, float(slopes[low]), float(slopes[high]), level, n, inflation)


def thinned(times: Floats, values: Floats) -> tuple[Floats, Floats]:
    """The medians of even stretches of time; stretches without any point are left out."""
    if len(times) <= POINTS:
        return times, values
    edges = np.linspace(times[0], times[-1], POINTS + 1)
    place = np.clip(np.searchsorted(edges, times, side="right") - 1, 0, POINTS - 1)
    taken = [place == i for i in range(POINTS) if bool((place == i).any())]
    at = [float(np.median(times[each])) for each in taken]
    middle = [float(np.median(values[each])) for each in taken]
    return np.asarray(at, dtype=np.float64), np.asarray(middle, dtype=np.float64)


def autocorrelation_factor(rest: Floats) -> float:
    """n/n* of Hamed and Rao, equation 16, of what is left without the trend; at least 1."""
    n = len(rest)
    ranks = average_ranks(rest)
    ranks -= ranks.mean()
    whole = float(ranks @ ranks)
    if whole == 0:
        return 1.0
    bound = normal_quantile((1 + SIGNIFICANT) / 2) / math.sqrt(n)
    total = 0.0
    for lag in range(1, n - 2):
        rho = float(ranks[:-lag] @ ranks[lag:]) / whole
        if abs(rho) > bound:
            total += (n - lag) * (n - lag - 1) * (n - lag - 2) * rho
    return max(1.0 + 2.0 * total / (n * (n - 1) * (n - 2)), 1.0)


def _slopes(at: Floats, points: Floats) -> Floats:
    """Between all pairs."""
    first, second = np.triu_indices(len(at), k=1)
    return np.asarray((points[second] - points[first]) / (at[second] - at[first]))


def _variance(points: Floats) -> float:
    """Of S, among independent points, with their ties (Kendall 1975)."""
    n = len(points)
    _, tied = np.unique(points, return_counts=True)
    ties = float((tied * (tied - 1.0) * (2.0 * tied + 5.0)).sum())
    return max((n * (n - 1.0) * (2.0 * n + 5.0) - ties) / 18.0, 0.0)
