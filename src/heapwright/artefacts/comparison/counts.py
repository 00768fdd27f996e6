# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The exact counts of one treatment, over its counted runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean

from heapwright.artefacts.comparison.document import Key, label_of
from heapwright.artefacts.run.exact_counts import COUNTS, INSTRUCTIONS, L1_MISSES, LL_MISSES
from heapwright.artefacts.run.measured import Outcome, Run

WEIGHTS = {INSTRUCTIONS: 1.0, L1_MISSES: 10.0, LL_MISSES: 100.0}
"""Cycles of each event. Source: the cycle estimation of KCachegrind."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The counts of one treatment: geometric means, and the spread of its instructions."""

    key: Key
    counts: dict[str, float]
    runs: int
    spread: float

    @property
    def label(self) -> str:
        return label_of(*self.key)

    @property
    def estimate(self) -> float:
        """Estimated cycles."""
        return sum(weight * self.counts.get(name, 0.0) for name, weight in WEIGHTS.items())

    def ratio(self, other: "Counted", count: str) -> float | None:
        """This count divided by the other's; None if one of them is unknown."""
        mine, its = self.counts.get(count), other.counts.get(count)
        return mine / its if mine and its else None


def counted(runs: Sequence[Run], key: Key) -> Counted | None:
    """The good measured runs of a treatment; None without one."""
    good = [
        run.measures
        for run in runs
        if (run.allocator, run.level) == key
        and not run.warmup
        and run.outcome is Outcome.OK
        and INSTRUCTIONS in run.measures
    ]
    if not good:
        return None
    means = {
        name: exp(fmean(log(each[name]) for each in good))
        for name in COUNTS
        if all(each.get(name, 0) > 0 for each in good)
    }
    instructions = [each[INSTRUCTIONS] for each in good]
    return Counted(key, means, len(good), max(instructions) / min(instructions) - 1)
