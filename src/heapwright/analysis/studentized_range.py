# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The distribution of the studentised range, which Tukey's comparisons are held against.

The range of k independent standard normal means exceeds w with probability 1 - W(w),

    W(w) = k * integral phi(z) (Phi(z) - Phi(z - w))^(k - 1) dz

(z is the largest of them), and the studentised range is that range over an independent estimate s
of the standard deviation with `df` degrees of freedom: P(q) = E W(q s). Both integrals are smooth,
so that fixed Gauss-Legendre points between the far quantiles give ten digits; SciPy's adaptive
integration gives the same after a hundred times as long, which a study with thousands of tables of
means would notice.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special, stats

Floats = NDArray[np.float64]

FAR = 1e-13
"""What lies beyond the ends of the integrals has at most this probability."""
MOST_DF = 1e6
"""With more degrees of freedom the standard deviation is known."""
_POINTS = 96
_SCALE_POINTS = 48


def survival(q: ArrayLike, k: int, df: float) -> Floats:
    """The chance that the studentised range of `k` means exceeds each of `q`.

    Cost: some 5,000 values of the normal distribution for each q.
    """
    values = np.atleast_1d(np.asarray(q, dtype=np.float64))
    scales, weights = _scales(df)
    chances = np.array([float(weights @ _range_survival(value * scales, k)) for value in values])
    clipped: Floats = np.clip(chances, 0.0, 1.0)
    return clipped


@lru_cache(maxsize=1024)
def quantile(level: float, k: int, df: float) -> float:
    """What the studentised range of `k` means stays below with probability `level`."""

    def excess(q: float) -> float:
        return 1 - level - float(survival(q, k, df)[0])

    high = 4.0
    while excess(high) < 0:
        high *= 2
    return float(optimize.brentq(excess, 0.0, high, xtol=1e-10))


def _range_survival(w: Floats, k: int) -> Floats:
    """1 - W(w), shape of `w`; the largest of the means is integrated over."""
    end = float(special.ndtri(1 - FAR)) + 1
    points, weights = _legendre(_POINTS, -end, end)
    below = special.ndtr(points)
    inside = below - special.ndtr(points - w[:, None])
    density = np.exp(-(points**2) / 2) / np.sqrt(2 * np.pi)
    # the difference of powers, term by term, keeps small chances exact
    lost = below ** (k - 1) - inside ** (k - 1)
    total: Floats = k * (lost * density) @ weights
    return total


@lru_cache(maxsize=256)
def _scales(df: float) -> tuple[Floats, Floats]:
    """Points and weights of the estimated standard deviation over the true one."""
    if df > MOST_DF:
        return np.ones(1), np.ones(1)
    low, high = np.sqrt(stats.chi2.ppf([FAR, 1 - FAR], df) / df)
    points, weights = _legendre(_SCALE_POINTS, float(low), float(high))
    density = np.exp(np.log(2 * points) + np.log(df) + stats.chi2.logpdf(df * points**2, df))
    return points, weights * density


@lru_cache(maxsize=256)
def _legendre(count: int, low: float, high: float) -> tuple[Floats, Floats]:
    """Gauss-Legendre points and weights between `low` and `high`."""
    points, weights = np.polynomial.legendre.leggauss(count)
    half = (high - low) / 2
    return low + half * (points + 1), weights * half
