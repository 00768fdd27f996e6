# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The centre of paired differences, with an exact interval that disturbed runs hardly move.

The estimate is the median of the means of all pairs of differences (Hodges and Lehmann 1963). The
interval holds the centres that Wilcoxon's signed-rank test does not reject. The only assumption is
that the differences are symmetric. It holds if each block runs its two treatments in random order,
for any distribution and any drift of the noise.

Source: Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, section 3.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np


@dataclass(frozen=True, slots=True)
class Centre:
    """An estimate with its interval; infinite bounds where the pairs are too few for one."""

    estimate: float
    low: float
    high: float


def centre_of(differences: Sequence[float], confidence: float) -> Centre:
    """The centre of at least one difference."""
    values = np.asarray(differences, float)
    rows, columns = np.triu_indices(len(values))
    walsh = np.sort((values[rows] + values[columns]) / 2)
    left_out = ranks_left_out(len(values), confidence)
    if left_out is None:
        return Centre(float(np.median(walsh)), -math.inf, math.inf)
    return Centre(float(np.median(walsh)), float(walsh[left_out]), float(walsh[-1 - left_out]))


@lru_cache(maxsize=128)
def ranks_left_out(pairs: int, confidence: float) -> int | None:
    """How many means the interval leaves out at each end; None: no interval is that sure.

    It is the largest k for which the sum of positive ranks is at most k with a chance of at most
    half the error.
    """
    counts = np.ones(1)
    for rank in range(1, pairs + 1):
        longer = np.zeros(len(counts) + rank)
        longer[: len(counts)] += counts
        longer[rank:] += counts
        counts = longer / 2
    below = np.cumsum(counts)
    allowed = int(np.searchsorted(below, (1 - confidence) / 2 + 1e-12, side="right"))
    return allowed - 1 if allowed else None
