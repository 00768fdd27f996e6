# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The difference between two independent samples, and how many runs would tell.

The samples are logarithms, a value a block, in the order in which the blocks were run. Their
scatter may differ, so the interval is Welch's (1947) with Satterthwaite's degrees of freedom. Runs
of one occasion depend on each other where a machine drifts. A sample has n values whose
neighbours correlate by r. It knows a mean no better than n (1 - r) / (1 + r) independent values.
That number is used. Source: Wilks, Statistical Methods in the Atmospheric Sciences, section 5.2.4.
A negative r, which would make the interval narrower, counts as none.

There are three answers about a difference d with limits L < 0 < U on the log scale. They are above
(d > U), below (d < L), and within (L < d < U). The last one is two one-sided tests (Schuirmann
1987). Each is wrong with probability alpha at most. All three can be read off one interval with
confidence 1 - 2 alpha.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from heapwright.analysis.numerics.distributions import student_cdf, student_quantile

Floats = NDArray[np.float64]
Answer = Literal["above", "below", "within", "open"]

POWER = 0.8
"""The chance of an answer that the number of blocks is chosen for."""
MOST_BLOCKS = 10_000
FEWEST_FOR_DRIFT = 8
"""Neighbours' correlation is not estimated from fewer values."""
HIGHEST_DRIFT = 0.9
NO_SCATTER = 1e-12


@dataclass(frozen=True, slots=True)
class Sample:
    """What one document says of one figure: `variance` is that of one effective value."""

    mean: float
    deviation: float
    """NaN with one value."""
    count: int
    effective: float

    @classmethod
    def of(cls, values: Floats) -> "Sample":
        """Summarise `values`, shape (n,), n at least 1."""
        count = len(values)
        deviation = float(values.std(ddof=1)) if count > 1 else math.nan
        if deviation < NO_SCATTER * max(1.0, abs(float(values.mean()))):
            deviation = 0.0
        drift = neighbours_correlation(values) if count >= FEWEST_FOR_DRIFT else 0.0
        return cls(float(values.mean()), deviation, count, count * (1 - drift) / (1 + drift))

    @property
    def thinning(self) -> float:
        """Effective values for each run."""
        return self.effective / self.count


@dataclass(frozen=True, slots=True)
class Difference:
    """Second less first, with its standard error; NaN where no scatter could be seen."""

    first: Sample
    second: Sample

    @property
    def estimate(self) -> float:
        return self.second.mean - self.first.mean

    @property
    def error(self) -> float:
        return _error(self.first, self.second)

    def interval(self, level: float) -> tuple[float, float]:
        """The two-sided interval with confidence `level`; infinite if there is no bound."""
        error = self.error
        if math.isnan(error):
            return -math.inf, math.inf
        half = student_quantile((1 + level) / 2, _freedom(self.first, self.second)) * error
        return self.estimate - half, self.estimate + half

    def answer(self, level: float, low: float, high: float) -> Answer:
        """Where the difference lies: the limits themselves count as within."""
        return answer(self.interval(level), low, high)

    def blocks_needed(self, level: float, low: float, high: float) -> int | None:
        """The fewest blocks in each document that give an answer with probability POWER.

        Assumes that estimate, scatter and drift stay as they are and that errors are about normal.
        None if more than MOST_BLOCKS would be needed, or if no scatter could be seen.
        """
        if math.isnan(self.error):
            return None
        if self._chance(MOST_BLOCKS, level, low, high) < POWER:
            return None
        few, many = 1, MOST_BLOCKS
        while many - few > 1:
            middle = (few + many) // 2
            if self._chance(middle, level, low, high) < POWER:
                few = middle
            else:
                many = middle
        return many

    def _chance(self, blocks: int, level: float, low: float, high: float) -> float:
        """Of an answer with this number of blocks in each document, if the estimate is true."""
        first, second = (_resized(sample, blocks) for sample in (self.first, self.second))
        error, freedom = _error(first, second), _freedom(first, second)
        if error == 0:
            return 1.0
        critical = student_quantile((1 + level) / 2, freedom)
        estimate = self.estimate

        def below(z: float) -> float:
            return student_cdf(z, freedom)

        above = 1 - below((high - estimate) / error + critical)
        under = below((low - estimate) / error - critical)
        within = below((high - estimate) / error - critical) - below(
            (low - estimate) / error + critical
        )
        return above + under + max(within, 0.0)


def answer(interval: tuple[float, float], low: float, high: float) -> Answer:
    """What an interval states about the limits: on them counts as within."""
    left, right = interval
    if left > high:
        return "above"
    if right < low:
        return "below"
    return "within" if low <= left and right <= high else "open"


def neighbours_correlation(values: Floats) -> float:
    """The correlation of each value with the one before it, from 0 to HIGHEST_DRIFT.

    The estimate of independent values is -1/n on average, which is taken off.
    """
    centred = values - values.mean()
    square = float(centred @ centred)
    if square <= NO_SCATTER**2:
        return 0.0
    plain = float(centred[1:] @ centred[:-1]) / square + 1 / len(values)
    return min(max(plain, 0.0), HIGHEST_DRIFT)


def _resized(sample: Sample, blocks: int) -> Sample:
    return Sample(sample.mean, sample.deviation, blocks, blocks * sample.thinning)


def _variances(first: Sample, second: Sample) -> tuple[float, float]:
    return first.deviation**2 / first.effective, second.deviation**2 / second.effective


def _error(first: Sample, second: Sample) -> float:
    return math.sqrt(sum(_variances(first, second)))


def _freedom(first: Sample, second: Sample) -> float:
    """Satterthwaite's, of the effective numbers; 1 at least."""
    one, two = _variances(first, second)
    if one + two == 0:
        return math.inf
    below = one**2 / max(first.effective - 1, 1) + two**2 / max(second.effective - 1, 1)
    return max((one + two) ** 2 / below, 1.0)
