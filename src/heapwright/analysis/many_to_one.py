# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Dunnett's quantile: many treatments against one, all with the same number of runs.

The p contrasts T_j = (Z_j - Z_0) / (sqrt(2) s) share the Z_0 of the baseline. Every correlation is
therefore 1/2. For fixed Z_0 and s they are independent:

    P(all |T_j| <= c) = E (Phi(Z_0 + c s sqrt(2)) - Phi(Z_0 - c s sqrt(2)))^p

(Dunnett 1955), integrated at fixed points. With other correlations, that is with runs missing,
`numerics.multivariate_t` integrates, which takes many times as long.
"""

from functools import lru_cache

import numpy as np

from heapwright.analysis.numerics.distributions import (
    normal_cdf,
    normal_quantile,
    student_quantile,
)
from heapwright.analysis.numerics.roots import root
from heapwright.analysis.quadrature import FAR, legendre, scales

_POINTS = 96


def chance_within(c: float, p: int, df: float) -> float:
    """The chance that all |T_j| stay at or below `c`."""
    end = normal_quantile(1 - FAR) + 1
    baseline, weights = legendre(_POINTS, -end, end)
    density = weights * np.exp(-(baseline**2) / 2) / np.sqrt(2 * np.pi)
    sizes, shares = scales(df)
    edge = np.sqrt(2) * c * sizes[:, None]
    inside = (normal_cdf(baseline + edge) - normal_cdf(baseline - edge)) ** p
    return float(shares @ (inside @ density))


@lru_cache(maxsize=1024)
def quantile(level: float, p: int, df: float) -> float:
    """The c for which all |T_j| <= c with probability `level`."""
    low = student_quantile((1 + level) / 2, df)
    high = student_quantile(1 - (1 - level) / (2 * p), df)
    if p == 1:
        return low
    return root(lambda c: chance_within(c, p, df) - level, low, high, tolerance=1e-10)
