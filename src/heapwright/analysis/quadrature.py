# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Points and weights of the integrals behind simultaneous quantiles.

A statistic over an estimated standard deviation is integrated over that estimate (chi-distributed),
and within it over a normal variable. Both integrands are smooth, so Gauss-Legendre points between
the far quantiles give ten digits.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from heapwright.analysis.numerics.roots import root

Floats = NDArray[np.float64]

FAR = 1e-13
"""What lies beyond the ends of the integrals has at most this probability."""
MOST_DF = 1e6
"""With more degrees of freedom the standard deviation is known."""
_POINTS = 48


@lru_cache(maxsize=256)
def scales(df: float) -> tuple[Floats, Floats]:
    """Points and weights of the estimated standard deviation over the true one."""
    if df > MOST_DF:
        return np.ones(1), np.ones(1)
    points, weights = legendre(_POINTS, *_ends(df))
    half = df / 2
    constant = math.log(2) + half * math.log(half) - math.lgamma(half)
    log_density = constant + (df - 1) * np.log(points) - half * points**2
    return points, weights * np.exp(log_density)


def _ends(df: float) -> tuple[float, float]:
    """What the estimate is below, and above, with a probability of at most FAR.

    By Chernoff's bound: P(s^2 <= r), and for r > 1 P(s^2 >= r), is at most
    exp(-df (r - 1 - log r) / 2). The root is found in log r.
    """
    least = -2 * math.log(FAR) / df

    def excess(log_r: float) -> float:
        return math.expm1(log_r) - log_r - least

    low = root(excess, -least - 1, 0.0, tolerance=1e-12)
    high = root(excess, 0.0, math.log1p(least) + 2, tolerance=1e-12)
    return math.exp(low / 2), math.exp(high / 2)


@lru_cache(maxsize=256)
def legendre(count: int, low: float, high: float) -> tuple[Floats, Floats]:
    """Gauss-Legendre points and weights between `low` and `high`."""
    points, weights = np.polynomial.legendre.leggauss(count)
    half = (high - low) / 2
    return low + half * (points + 1), weights * half
