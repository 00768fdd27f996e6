# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The difference between two samples of which a race chose the number of blocks.

A race stops because of what its blocks say. An interval for a fixed number of blocks then holds
less often than it states. The intervals of `analysis.race.ratio` hold at all blocks at once, so
they allow for the stopping. Each side has its own interval with half of the error. A side with a
fixed number of blocks has Student's interval.
"""

from dataclasses import dataclass

import numpy as np

from heapwright.analysis.gate.welch import Answer, Difference, Floats, Sample, answer
from heapwright.analysis.numerics.distributions import student_quantile
from heapwright.analysis.race.estimate import estimate
from heapwright.analysis.race.ratio import bounds


@dataclass(frozen=True, slots=True)
class Side:
    """The logarithms of ratios of one document, in the order of its blocks."""

    values: Floats
    raced: bool
    """A race chose how many there are."""

    def interval(self, confidence: float) -> tuple[float, float]:
        """Bounds of the centre; infinite where there is none."""
        if self.raced:
            return _ratio_bounds(self.values, confidence)
        sample = Sample.of(self.values)
        error = sample.deviation / np.sqrt(sample.effective)
        if not np.isfinite(error):
            return -np.inf, np.inf
        half = student_quantile((1 + confidence) / 2, max(sample.effective - 1, 1)) * error
        return float(sample.mean - half), float(sample.mean + half)


@dataclass(frozen=True, slots=True)
class SequentialDifference:
    """Second less first; `baseline` None: the second side is a difference by itself."""

    baseline: Side | None
    current: Side

    @property
    def first(self) -> Sample:
        """Without a baseline: a value of 0 for each block."""
        values = self.baseline.values if self.baseline else np.zeros_like(self.current.values)
        return Sample.of(values)

    @property
    def second(self) -> Sample:
        return Sample.of(self.current.values)

    @property
    def estimate(self) -> float:
        """The difference of medians, which the bets are about."""
        before = float(np.median(self.baseline.values)) if self.baseline else 0.0
        return float(np.median(self.current.values)) - before

    def interval(self, level: float) -> tuple[float, float]:
        """The two-sided interval with confidence `level`; infinite if there is no bound."""
        if self.baseline is None:
            return self.current.interval(level)
        each = 1 - (1 - level) / 2
        low, high = self.baseline.interval(each)
        left, right = self.current.interval(each)
        return left - high, right - low

    def answer(self, level: float, low: float, high: float) -> Answer:
        """Where the difference lies: the limits themselves count as within."""
        return answer(self.interval(level), low, high)

    def blocks_needed(self, level: float, low: float, high: float) -> int | None:
        """As many as two documents with a fixed number of blocks need: `compare -n`."""
        return Difference(self.first, self.second).blocks_needed(level, low, high)


def _ratio_bounds(values: Floats, confidence: float) -> tuple[float, float]:
    """The bets of each block use the scatter of the blocks before it alone."""
    columns = np.column_stack((values, np.zeros_like(values)))
    scatters = np.array([estimate(columns[:block]).scatter for block in range(len(values))])
    found = bounds(values, scatters, confidence)
    return (
        -np.inf if found.low is None else float(np.log(found.low)),
        np.inf if found.high is None else float(np.log(found.high)),
    )
