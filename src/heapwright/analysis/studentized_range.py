# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The distribution of the studentised range, which Tukey's comparisons are held against.

The range of k independent standard normal means exceeds w with probability 1 - W(w),

    W(w) = k * integral phi(z) (Phi(z) - Phi(z - w))^(k - 1) dz

(z is the largest of them). The studentised range is that range over an independent estimate s of
the standard deviation with `df` degrees of freedom: P(q) = E W(q s). Both integrals are smooth, so
fixed Gauss-Legendre points between the far quantiles give ten digits. SciPy's adaptive integration
takes a hundred times as long. This matters in a study with thousands of tables of means.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from heapwright.analysis.numerics.distributions import normal_cdf, normal_quantile
from heapwright.analysis.numerics.roots import root
from heapwright.analysis.quadrature import FAR, Floats, legendre, scales

_POINTS = 96


def survival(q: ArrayLike, k: int, df: float) -> Floats:
    """The chance that the studentised range of `k` means exceeds each of `q`.

    Cost: some 5,000 values of the normal distribution for each q.
    """
    values = np.atleast_1d(np.asarray(q, dtype=np.float64))
    sizes, weights = scales(df)
    chances = np.array([float(weights @ _range_survival(value * sizes, k)) for value in values])
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
    return root(excess, 0.0, high, tolerance=1e-10)


def _range_survival(w: Floats, k: int) -> Floats:
    """1 - W(w), shape of `w`; the largest of the means is integrated over."""
    end = normal_quantile(1 - FAR) + 1
    points, weights = legendre(_POINTS, -end, end)
    below = normal_cdf(points)
    inside = below - normal_cdf(points - w[:, None])
    density = np.exp(-(points**2) / 2) / np.sqrt(2 * np.pi)
    # the difference of powers, term by term, keeps small chances exact
    lost = below ** (k - 1) - inside ** (k - 1)
    total: Floats = k * (lost * density) @ weights
    return total
