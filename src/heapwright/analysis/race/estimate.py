# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Robust effects and scatter of the candidates, to choose the next bets by.

Bets may depend on the past in any way, so nothing here bears on the error rate. Medians resist the
runs that a neighbour disturbed.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SCATTER_UNKNOWN = 0.05
"""Scatter of one run that is assumed before the first block, as a fraction."""
BLOCKS_TO_TRUST = 4
"""Blocks after which the assumption has no weight."""
LEAST_SCATTER = 1e-4
"""A slope stays finite where all blocks show the same ratios."""
_NORMAL = 1.4826
"""Median absolute deviation to standard deviation, for normal noise."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """effects (k,): log effects up to a common constant; scatter: of the logarithm of one run."""

    effects: Floats
    scatter: float


def estimate(values: Floats) -> Estimate:
    """From all blocks so far: `values` has shape (blocks, k), NaN where there is no figure.

    The level of a block is the median of its figures.
    """
    blocks = len(values)
    if not blocks:
        return Estimate(np.zeros(values.shape[1]), SCATTER_UNKNOWN)
    relative = values - _median(values, axis=1)[:, None]
    effects = _median(relative, axis=0)
    if blocks < 2:
        return Estimate(effects, SCATTER_UNKNOWN)
    residuals = np.abs(relative - effects)
    seen = residuals[np.isfinite(residuals)]
    scatter = _NORMAL * float(np.median(seen)) * math.sqrt(blocks / (blocks - 1))
    if blocks < BLOCKS_TO_TRUST:
        own = (blocks - 1) / (BLOCKS_TO_TRUST - 1)
        scatter = own * scatter + (1 - own) * SCATTER_UNKNOWN
    return Estimate(effects, max(scatter, LEAST_SCATTER))


def _median(values: Floats, axis: int) -> Floats:
    """Median of what is there; NaN where nothing is."""
    if np.isfinite(values).all():
        return np.asarray(np.median(values, axis=axis))
    masked = np.ma.masked_invalid(values)
    return np.asarray(np.ma.median(masked, axis=axis).filled(np.nan))  # type: ignore[no-untyped-call]
