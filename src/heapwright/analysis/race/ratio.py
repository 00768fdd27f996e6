# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A confidence sequence for the ratio of two candidates: it holds at all blocks at once.

The interval holds every value that the bets of `evidence` have not ruled out so far, from either
side. Stopping a race because of what it says therefore costs nothing. A pair that shared too few
blocks to rule anything out has no bound.

Source: Waudby-Smith and Ramdas (2024), for intervals from bets at every value.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapwright.analysis.numerics.roots import root
from heapwright.analysis.race.evidence import log_factors_of_pairs, log_wealth

Floats = NDArray[np.float64]

_FARTHEST = 20.0
"""On the log scale; beyond it no ratio of times is of interest."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of a ratio; None: not bounded by these blocks."""

    low: float | None
    high: float | None

    @property
    def is_open(self) -> bool:
        """Whether one side has no bound."""
        return self.low is None or self.high is None


def bounds(differences: Floats, scatters: Floats, confidence: float) -> Bounds:
    """Bounds of exp(centre of `differences`), paired log ratios with the scatter known before each.

    Both arrays have shape (blocks,).
    """
    half = (1 - confidence) / 2
    low = lower_bound(differences, scatters, half)
    high = lower_bound(-differences, scatters, half)
    return Bounds(
        None if low is None else float(np.exp(low)), None if high is None else float(np.exp(-high))
    )


def lower_bound(differences: Floats, scatters: Floats, error: float) -> float | None:
    """A bound below the centre, on the log scale; it is wrong with probability `error` at most.

    It is the largest centre that is ruled out. The wealth falls with the centre.
    """
    threshold = -np.log(error)

    def excess(centre: float) -> float:
        factors = log_factors_of_pairs(differences - centre, scatters)
        return float(log_wealth(factors.sum(axis=0)) - threshold)

    if not differences.size or excess(-_FARTHEST) <= 0:
        return None
    return root(excess, -_FARTHEST, _FARTHEST, tolerance=1e-6)
