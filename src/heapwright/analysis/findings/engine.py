# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The one engine behind findings, acceptance, sensitivity and substitution.

A rule has three parts. It selects cells of a study, and computes a statistic of them with an
interval (`estimate`). It names the region in which the statistic has to lie (`Region`). The rule
holds if the whole interval lies in the region. It fails if all of the interval lies outside.
Otherwise it is undecided (`judge`). Rules combine with `every` and `some`.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from heapwright.analysis.findings.sample import SOLE_BLOCK, Sample
from heapwright.artefacts.study_analysis.answers import Answer
from heapwright.base.blocks_needed import blocks_needed, ratio_blocks_needed

LARGEST = 700.0
"""A logarithm whose number can just be written down."""
MOST_BLOCKS_COUNTED = 1_000_000
"""Of what would decide a statistic; an estimate at the very limit needs infinitely many."""
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Region:
    """Where a statistic has to lie; None: no bound on that side."""

    above: float | None = None
    below: float | None = None
    closed: bool = False
    """The bounds belong to the region."""
    outside: bool = False
    """The statistic has to lie outside of the region instead."""

    def contains(self, low: float, high: float) -> bool:
        """Whether the whole interval lies between the bounds."""
        if self.closed:
            over = self.above is None or low >= self.above
            return over and (self.below is None or high <= self.below)
        return (self.above is None or low > self.above) and (
            self.below is None or high < self.below
        )

    def excludes(self, low: float, high: float) -> bool:
        """Whether all of the interval lies beyond one of the bounds."""
        if self.closed:
            under = self.above is not None and high < self.above
            return under or (self.below is not None and low > self.below)
        return (self.above is not None and high <= self.above) or (
            self.below is not None and low >= self.below
        )


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic of a sample: its value, its interval, and what to know about both."""

    value: float | None
    interval: Interval | None
    blocks: int
    notes: tuple[str, ...] = ()

    @property
    def low(self) -> float | None:
        return None if self.interval is None else self.interval[0]

    @property
    def high(self) -> float | None:
        return None if self.interval is None else self.interval[1]


def estimate(sample: Sample, confidence: float, *, logarithm: bool = True) -> Estimate:
    """The mean over blocks with its interval by Student's t.

    `logarithm`: the sample holds logarithms of the statistic.
    """
    back = number if logarithm else float
    ends = sample.interval(confidence)
    return Estimate(
        value=None if sample.mean is None else back(sample.mean),
        interval=None if ends is None else (back(ends[0]), back(ends[1])),
        blocks=len(sample),
        notes=(SOLE_BLOCK, *sample.notes) if len(sample) == 1 else sample.notes,
    )


def judge(interval: Interval | None, region: Region) -> Answer:
    """Whether the statistic lies in the region of the rule; undecided without an interval."""
    if interval is None:
        return Answer.UNKNOWN
    inside, beyond = (Answer.HOLDS, Answer.FAILS)
    if region.outside:
        inside, beyond = beyond, inside
    if region.excludes(*interval):
        return beyond
    return inside if region.contains(*interval) else Answer.UNKNOWN


def needed(found: Estimate, region: Region, *, logarithm: bool = True) -> int | None:
    """The blocks that would decide an undecided statistic, if it stays; None: blocks alone do not.

    One more block than there are is the least.
    """
    limits = [
        limit
        for limit in (region.above, region.below)
        if limit is not None and not (logarithm and limit <= 0)
    ]
    if found.value is None or found.interval is None:
        return None
    if judge(found.interval, region) is not Answer.UNKNOWN:
        return None
    ask = ratio_blocks_needed if logarithm else blocks_needed
    blocks = ask(found.blocks, found.value, found.interval, limits)
    return max(found.blocks + 1, math.ceil(min(blocks, MOST_BLOCKS_COUNTED)))


def every(answers: Iterable[Answer]) -> Answer:
    """Whether all rules hold. One that fails refutes it. Without rules it is undecided."""
    found = set(answers)
    if Answer.FAILS in found:
        return Answer.FAILS
    return Answer.HOLDS if found == {Answer.HOLDS} else Answer.UNKNOWN


def some(answers: Iterable[Answer]) -> Answer:
    """Whether any rule holds. All must fail to refute it. Without rules it is undecided."""
    found = set(answers)
    if Answer.HOLDS in found:
        return Answer.HOLDS
    return Answer.FAILS if found == {Answer.FAILS} else Answer.UNKNOWN


def number(logarithm: float) -> float:
    """The number of a logarithm, as far as numbers go."""
    return math.exp(min(max(logarithm, -LARGEST), LARGEST))
