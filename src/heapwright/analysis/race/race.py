# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The race: which candidates leave after each block, and when one can be named.

A candidate leaves when it is significantly slower than the best by more than the margin. It stays
if it is on the front of time and memory. The race ends as soon as

    one contender is left                               it is named
    the baseline is out, and the fastest contender
    is surely within the margin of all the others       it is named; none is better by more
    the baseline is surely within the margin of all     no difference: keep the baseline

A candidate is named only once its ratio to the baseline has bounds.

The error rate e bounds the chance of two errors. A race drops the best candidate, or ends with one
that is not within the margin of the best. `DROPPING` of e is spent on the first kind of error. Only
one hypothesis is true there, that the best candidate is within the margin of the best, so the
number of candidates needs no correction. The rest is spent on the second kind: `BASELINE` of e on
the baseline, what remains on all others in equal parts. A claim about one candidate is false only
if the best contender is faster by more than the margin. It therefore needs evidence against each
contender alone (intersection-union, Berger 1982). docs/explanation/racing.md has the proof.

The same evidence bounds how much slower than the best a contender is at most (`shortfall`). This
holds for a race that is stopped before it ended.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from heapwright.analysis.race.estimate import Estimate, estimate
from heapwright.analysis.race.evidence import (
    BETS,
    log_factors_of_pairs,
    log_factors_of_rank,
    log_wealth,
)
from heapwright.analysis.race.ratio import Bounds, bounds, lower_bound
from heapwright.artefacts.comparison.document import Key

Floats = NDArray[np.float64]

DROPPING = 0.7
"""Share of the error rate for dropping the best."""
BASELINE = 0.1
"""Share of the error rate for a claim that the baseline is within the margin of the best."""
CLEARLY_FASTER = 0.5
"""A rival in a bet must look faster by the margin and this many times the scatter."""

Why = Literal["slower", "failed", "over the cap"]


@dataclass(frozen=True, slots=True)
class Rules:
    """What the race asks for: margin of practical equivalence, and confidence in the answer."""

    margin: float
    confidence: float = 0.95

    @property
    def log_margin(self) -> float:
        return float(np.log1p(self.margin))

    @property
    def error(self) -> float:
        return 1 - self.confidence


@dataclass(frozen=True, slots=True)
class Figures:
    """One good run: the figure that decides, and peak memory where it is known; both above 0."""

    time: float
    memory: float | None = None


@dataclass(frozen=True, slots=True)
class Departure:
    """A candidate that left the race after `block`."""

    key: Key
    block: int
    why: Why
    ratio: float | None = None
    """Its time relative to that of `leader`, by medians; None: it left for another reason."""
    leader: Key | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """How a race ended: `named` is within the margin of the best.

    No candidate of `others` is better by more than the margin. They may be slower, because a race
    ends as soon as it can name one.
    """

    named: Key
    others: tuple[Key, ...]
    block: int


@dataclass(slots=True)
class Race:
    """A race between `candidates`, of which the first is the baseline; feed it block by block."""

    candidates: Sequence[Key]
    rules: Rules
    departures: list[Departure] = field(default_factory=list)
    slower: set[Key] = field(default_factory=set)
    """Surely not within the margin of the best, whether they left or are on the front."""
    ending: Ending | None = None
    blocks: int = 0

    _values: Floats = field(init=False)
    _memory: Floats = field(init=False)
    _scatters: list[float] = field(init=False, default_factory=list)
    _late: Floats = field(init=False)
    _behind: Floats = field(init=False)
    _within: Floats = field(init=False)
    _estimate: Estimate = field(init=False)

    def __post_init__(self) -> None:
        k = len(self.candidates)
        if k < 2 or len(set(self.candidates)) < k:
            raise ValueError("a race needs two candidates, and all must differ")
        self._values = np.empty((0, k))
        self._memory = np.empty((0, k))
        self._late = np.zeros((k, len(BETS)))
        self._behind = np.zeros(len(BETS))
        self._within = np.zeros((k, k, len(BETS)))
        self._estimate = estimate(self._values)

    @property
    def baseline(self) -> Key:
        return self.candidates[0]

    @property
    def contenders(self) -> tuple[Key, ...]:
        """Those that may still be within the margin of the best."""
        gone = {departure.key for departure in self.departures} | self.slower
        return tuple(key for key in self.candidates if key not in gone)

    @property
    def running(self) -> tuple[Key, ...]:
        """Those that the next block runs: contenders, the front, and the baseline always."""
        gone = {departure.key for departure in self.departures} - {self.baseline}
        return tuple(key for key in self.candidates if key not in gone)

    @property
    def leader(self) -> Key:
        """The contender that looks fastest."""
        effects = self._estimate.effects
        return min(self.contenders, key=lambda key: (effects[self._column(key)], key))

    def ratio(self, key: Key, to: Key) -> float:
        """Time of one candidate relative to another, by medians over the blocks of both."""
        return float(np.exp(self._log_ratio(self._values, key, to)))

    def bounds(self, key: Key, to: Key) -> Bounds:
        """Bounds of that ratio, which hold at all blocks at once with the rules' confidence."""
        return bounds(*self._differences(key, to), self.rules.confidence)

    @property
    def is_baseline_beaten(self) -> bool:
        """Whether a contender is surely faster than the baseline, by however little."""
        return float(log_wealth(self._behind)) >= self._threshold

    @property
    def advised(self) -> Key | None:
        """The candidate to use if the race is stopped now; None: the blocks are too few."""
        if self.ending is not None:
            return self.ending.named
        if not self.contenders:
            return None
        leader, baseline = self.leader, self.baseline
        if leader != baseline and self.is_baseline_beaten:
            high = self.bounds(leader, baseline).high
            seems_better = self.ratio(leader, baseline) < 1 - self.rules.margin
            if high is not None and high < 1 and seems_better:
                return leader
        known = baseline in self.contenders and self.shortfall(baseline) is not None
        return baseline if known else None

    def shortfall(self, key: Key) -> float | None:
        """How much slower than the best a contender is at most, as a fraction; None: no bound.

        The bounds of all contenders hold at all blocks at once, within the error rate of the race.
        """
        rivals = [each for each in self.contenders if each != key]
        lows = [self._centre_below(each, key, self._share(key)) for each in rivals]
        if None in lows:
            return None
        return float(np.expm1(max((0.0, *(-low for low in lows if low is not None)))))

    def fail(self, key: Key, block: int, why: Why = "failed") -> None:
        """A candidate that may not be named leaves; the baseline stays in the blocks."""
        if key not in {departure.key for departure in self.departures}:
            self.departures.append(Departure(key, block, why))

    def observe(self, block: int, figures: Mapping[Key, Figures]) -> None:
        """Learn from one block; contenders without a figure in it must have failed."""
        times = self._row({key: each.time for key, each in figures.items()})
        memory = self._row({k: each.memory for k, each in figures.items() if each.memory})
        self._bet(times)
        self._values = np.vstack((self._values, times))
        self._memory = np.vstack((self._memory, memory))
        self._scatters.append(self._estimate.scatter)
        self.blocks = block
        self._judge()

    def _bet(self, times: Floats) -> None:
        """Multiply the wealth of all bets by what this block says."""
        scatter = self._estimate.scatter
        margin = self.rules.log_margin
        for key in self.contenders:
            rivals = self._rivals(key, times)
            column = self._column(key)
            if len(rivals) and np.isfinite(times[column]):
                own = float(times[column])
                self._late[column] += log_factors_of_rank(own - margin, times[rivals], scatter)
                if key == self.baseline:
                    self._behind += log_factors_of_rank(own, times[rivals], scatter)
        columns = self._columns(self.contenders)
        differences = times[None, columns] - times[columns, None] + margin
        self._within[np.ix_(columns, columns)] += log_factors_of_pairs(differences, scatter)

    def _rivals(self, key: Key, times: Floats) -> NDArray[np.int_]:
        """Columns of those that looked clearly faster so far; before the first block all others.

        Which of them have a figure in this block does not depend on the order of its runs.
        """
        columns = self._columns(self.contenders)
        columns = columns[np.isfinite(times[columns])]
        own = self._column(key)
        if not len(self._values):
            return np.asarray(columns[columns != own])
        effects, scatter = self._estimate.effects, self._estimate.scatter
        least = self.rules.log_margin + CLEARLY_FASTER * scatter
        return np.asarray(columns[effects[columns] < effects[own] - least])

    def _judge(self) -> None:
        """Drop the candidates that are surely slower, then check whether one can be named."""
        if not self.contenders:
            return
        self._reestimate()
        leader = self.leader
        late = [
            key
            for key in self.contenders
            if key != leader and log_wealth(self._late[self._column(key)]) >= self._threshold
        ]
        self.slower |= set(late)
        if late:
            self._reestimate()
        leader = self.leader
        gone = {departure.key for departure in self.departures}
        for key in self.candidates:
            if key in self.slower - gone and not self._on_front(key):
                ratio = self.ratio(key, leader)
                self.departures.append(Departure(key, self.blocks, "slower", ratio, leader))
        self.ending = self._ended()

    def _ended(self) -> Ending | None:
        contenders, leader = self.contenders, self.leader
        if leader != self.baseline and self.bounds(leader, self.baseline).is_open:
            return None
        if len(contenders) == 1:
            return Ending(leader, (), self.blocks)
        for key in (self.baseline,) if self.baseline in contenders else (leader,):
            if self._is_within(key):
                others = tuple(each for each in contenders if each != key)
                return Ending(key, others, self.blocks)
        return None

    def _is_within(self, key: Key) -> bool:
        """Whether a contender is surely within the margin of all the others."""
        others = self._columns([each for each in self.contenders if each != key])
        threshold = -np.log(self._share(key))
        return bool((log_wealth(self._within[self._column(key), others]) >= threshold).all())

    def _share(self, key: Key) -> float:
        """The error rate of a claim that a candidate is near the best."""
        if key == self.baseline:
            return self.rules.error * BASELINE
        return self.rules.error * (1 - DROPPING - BASELINE) / (len(self.candidates) - 1)

    @property
    def _threshold(self) -> float:
        """Logarithm of the wealth at which a candidate is surely slower."""
        return float(-np.log(self.rules.error * DROPPING))

    def _centre_below(self, key: Key, to: Key, error: float) -> float | None:
        """The lower bound of the log ratio of two candidates, with its own error rate."""
        return lower_bound(*self._differences(key, to), error)

    def _differences(self, key: Key, to: Key) -> tuple[Floats, Floats]:
        """Log ratios in the blocks of both, and the scatter that was known before each."""
        both = self._values[:, self._column(key)] - self._values[:, self._column(to)]
        seen = np.isfinite(both)
        return both[seen], np.array(self._scatters)[seen]

    def _on_front(self, key: Key) -> bool:
        """Whether each faster contender needs more memory by more than the margin."""
        faster = [each for each in self.contenders if self._log_ratio(self._values, each, key) < 0]
        extra = [self._log_ratio(self._memory, each, key) for each in faster]
        known = [each for each in extra if np.isfinite(each)]
        return bool(known) and min(known) > self.rules.log_margin

    def _reestimate(self) -> None:
        """Estimate from the contenders, which the next bets are about."""
        columns = self._columns(self.contenders)
        found = estimate(self._values[:, columns])
        effects = np.full(len(self.candidates), np.nan)
        effects[columns] = found.effects
        self._estimate = Estimate(effects, found.scatter)

    def _row(self, values: Mapping[Key, float]) -> Floats:
        row = np.full(len(self.candidates), np.nan)
        for key, value in values.items():
            row[self._column(key)] = np.log(value)
        return row

    def _column(self, key: Key) -> int:
        return self.candidates.index(key)

    def _columns(self, keys: Sequence[Key]) -> NDArray[np.int_]:
        return np.array([self._column(key) for key in keys], dtype=np.int_)

    def _log_ratio(self, values: Floats, key: Key, to: Key) -> float:
        both = values[:, self._column(key)] - values[:, self._column(to)]
        both = both[np.isfinite(both)]
        return float(np.median(both)) if both.size else float("nan")
