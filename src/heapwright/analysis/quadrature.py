# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Points and weights of the integrals behind simultaneous quantiles.

A statistic over an estimated standard deviation is integrated over that estimate (chi-distributed),
and within it over a normal variable. Both integrands are smooth, so Gauss-Legendre points between
the far quantiles give ten digits.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

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
    low, high = np.sqrt(stats.chi2.ppf([FAR, 1 - FAR], df) / df)
    points, weights = legendre(_POINTS, float(low), float(high))
    density = np.exp(np.log(2 * points) + np.log(df) + stats.chi2.logpdf(df * points**2, df))
    return points, weights * density


@lru_cache(maxsize=256)
def legendre(count: int, low: float, high: float) -> tuple[Floats, Floats]:
    """Gauss-Legendre points and weights between `low` and `high`."""
    points, weights = np.polynomial.legendre.leggauss(count)
    half = (high - low) / 2
    return low + half * (points + 1), weights * half
