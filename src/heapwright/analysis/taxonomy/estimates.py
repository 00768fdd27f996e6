# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Figures from a few independent repetitions, with 95 % intervals by Student's t.

Ratios are averaged on the log scale, so that twice and half weigh the same. One repetition gives a
figure and no interval.
"""

from collections.abc import Sequence

import numpy as np

from heapwright.analysis.numerics.distributions import student_quantile
from heapwright.artefacts.taxonomy.document import Estimate

CONFIDENCE = 0.95


def mean_of(values: Sequence[float]) -> Estimate | None:
    """The arithmetic mean; None of nothing."""
    if not values:
        return None
    mean = float(np.mean(values))
    half = half_width(values)
    if half is None:
        return Estimate(value=mean, runs=len(values))
    return Estimate(value=mean, low=mean - half, high=mean + half, runs=len(values))


def ratio_of(logarithms: Sequence[float]) -> Estimate | None:
    """The geometric mean of ratios whose logarithms are given; None of nothing."""
    mean = mean_of(logarithms)
    if mean is None:
        return None
    bounds = (None if bound is None else float(np.exp(bound)) for bound in (mean.low, mean.high))
    low, high = bounds
    return Estimate(value=float(np.exp(mean.value)), low=low, high=high, runs=mean.runs)


def half_width(values: Sequence[float], confidence: float = CONFIDENCE) -> float | None:
    """Half the interval of the mean; None of a single value."""
    if len(values) < 2:
        return None
    critical = student_quantile((1 + confidence) / 2, len(values) - 1)
    return critical * float(np.std(values, ddof=1)) / float(np.sqrt(len(values)))
