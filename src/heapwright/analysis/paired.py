# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Ratios of paired figures, with their intervals.

The replicates of a deterministic boot differ only in their seed, and each kernel gets the same
seeds. The sample is the logarithms of the ratios, one for each seed. The interval of their mean is
Student's.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heapwright.analysis.numerics.distributions import student_quantile


@dataclass(frozen=True, slots=True)
class Ratio:
    """Geometric mean of ratios; without bounds where one pair gives none."""

    ratio: float
    low: float | None
    high: float | None


def paired_ratio(baseline: Sequence[float], current: Sequence[float], level: float) -> Ratio | None:
    """current over baseline, pair by pair; None where a figure is not above zero.

    Raises ValueError where the lengths differ. Pairs that all have the same ratio give an interval
    without width.
    """
    if len(baseline) != len(current):
        raise ValueError("figures that are no pairs")
    if not baseline or min(*baseline, *current) <= 0:
        return None
    logs = np.log(np.asarray(current, float)) - np.log(np.asarray(baseline, float))
    mean = float(logs.mean())
    if len(logs) < 2:
        return Ratio(math.exp(mean), None, None)
    error = float(logs.std(ddof=1)) / math.sqrt(len(logs))
    half = student_quantile((1 + level) / 2, len(logs) - 1) * error
    return Ratio(math.exp(mean), math.exp(mean - half), math.exp(mean + half))
