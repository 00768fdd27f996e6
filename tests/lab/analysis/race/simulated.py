# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated comparisons over recorded noise: by a race, and by complete blocks.

The noise of consecutive runs is a stretch of consecutive recorded runs that begins anywhere, so it
drifts as the machine did. A run takes the recorded time, times the candidate's true factor.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from heapwright.analysis.blocked import Cells, fit
from heapwright.analysis.intervals import FEWEST_BOOTSTRAP_BLOCKS, bootstrap, dunnett
from heapwright.analysis.race.race import Figures, Race, Rules
from support.recorded_noise import Noise

Floats = NDArray[np.float64]

COMMANDS = ("python", "perl", "compiler")
RULES = Rules(margin=0.02)
LOOKS = (5, 10, 20, 30, 60, 120, 240, 480)
"""Those of `--until`, doubled until every ratio is known."""
UNTIL = 0.03
RESAMPLES = 999


def allocators(candidates: int, draws: np.random.Generator) -> Floats:
    """True log factors as allocators have them: the baseline at 0, the others around + 5 %."""
    return np.concatenate(([0.0], draws.normal(0.05, 0.1, candidates - 1)))


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a simulated comparison ended; `named` is the column, None: the limit was reached.

    `advised` is the column of the answer, at the limit too, and `shortfall` its stated bound there.
    """

    named: int | None
    advised: int | None
    shortfall: float | None
    is_baseline_in: bool
    blocks: int
    runs: int


def race(truth: Floats, noise: Noise, draws: np.random.Generator, most_blocks: int) -> Outcome:
    """A race that makes at most the runs of `most_blocks` complete blocks."""
    keys = [(f"t{number:02}", "") for number in range(len(truth))]
    racing = Race(keys, RULES)
    runs = block = 0
    while racing.ending is None and runs < most_blocks * len(keys):
        block += 1
        order = draws.permutation([keys.index(key) for key in racing.running])
        times = np.exp(truth[order] + noise.take(len(order)))
        racing.observe(
            block, {keys[i]: Figures(float(t)) for i, t in zip(order, times, strict=True)}
        )
        runs += len(order)
    named = None if racing.ending is None else keys.index(racing.ending.named)
    advised, bound = racing.advised, None
    if advised is not None:
        bound = RULES.margin if racing.ending is not None else racing.shortfall(advised)
    column = None if advised is None else keys.index(advised)
    return Outcome(named, column, bound, racing.baseline in racing.contenders, block, runs)


def complete_blocks(candidates: int, noise: Noise, draws: np.random.Generator) -> int:
    """The runs that complete blocks need until every ratio is known to UNTIL.

    True effects move no interval, so they are left out.
    """
    values: Floats = np.empty((0, candidates))
    for before, look in pairwise((0, *LOOKS)):
        rows = [draws.permuted(noise.take(candidates)) for _ in range(look - before)]
        values = np.vstack((values, rows))
        if half_width(values) <= UNTIL:
            break
    return int(values.size)


def half_width(values: Floats) -> float:
    """The widest half-width of the intervals that a comparison gives, as a fraction."""
    fitted = fit(Cells(tuple((f"t{i}", "") for i in range(values.shape[1])), values))
    level = 1 - RULES.error / len(LOOKS)
    few = len(values) < FEWEST_BOOTSTRAP_BLOCKS
    found = dunnett(fitted, level) if few else bootstrap(fitted, level, 1, RESAMPLES)
    return float(np.expm1((found.high - found.low)[1:].max() / 2))


def is_good(truth: Floats, named: int) -> bool:
    """Whether the named candidate is within the margin of the best."""
    return bool(truth[named] <= truth.min() + RULES.log_margin)


def is_as_stated(truth: Floats, outcome: Outcome) -> bool:
    """Whether the answer is as near to the best as it states; an answer without a bound is not."""
    if outcome.advised is None or outcome.shortfall is None:
        return False
    return bool(truth[outcome.advised] <= truth.min() + np.log1p(outcome.shortfall))


def share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0
