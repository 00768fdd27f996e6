# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""All combinations of levels that the constraints allow, without ever holding more than asked for.

A combination is a tuple of places, one for each factor in the file's order. What a constraint says
is worked out once for each combination of the factors that it names. Up to `ENUMERABLE`
combinations are counted one by one; of more, the part that is allowed is estimated from a sample
(always the same one), and said to be an estimate.
"""

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from heapwright.artefacts.errors import HeapwrightError
from heapwright.artefacts.study_condition import ConditionError, parse_condition
from heapwright.artefacts.study_factor import Level
from heapwright.artefacts.study_file import StudyFile

ENUMERABLE = 1_000_000
SAMPLE = 20_000
PATIENCE = 200_000
"""Draws until one is allowed."""

Combination = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Excluded:
    """What a constraint leaves out; a combination is counted for the first that leaves it out."""

    require: str
    because: str
    count: int


class _Rule:
    """A constraint over places."""

    def __init__(self, file: StudyFile, place: int, levels: Mapping[str, Sequence[Level]]) -> None:
        constraint = file.study.constraints[place]
        self.require = constraint.require
        self.because = constraint.because
        self._keys = ("constraints", place, "require")
        self._file = file
        self._condition = parse_condition(constraint.require)
        self.factors = self._condition.factors
        names = list(levels)
        self._columns = [names.index(factor) for factor in self.factors]
        self._levels = [levels[factor] for factor in self.factors]
        self._known: dict[Combination, bool] = {}

    def holds(self, combination: Combination) -> bool:
        key = tuple([combination[column] for column in self._columns])
        answer = self._known.get(key)
        if answer is None:
            chosen = (levels[place] for levels, place in zip(self._levels, key, strict=True))
            try:
                answer = self._condition.holds(dict(zip(self.factors, chosen, strict=True)))
            except ConditionError as error:
                raise self._file.error(self._keys, str(error)) from error
            self._known[key] = answer
        return answer


class Combinations:
    """The combinations of some levels, with the constraints of a study file."""

    def __init__(self, file: StudyFile, levels: Mapping[str, Sequence[Level]]) -> None:
        self.counts = tuple(len(each) for each in levels.values())
        self.total = math.prod(self.counts)
        self.enumerable = self.total <= ENUMERABLE
        self._rules = [_Rule(file, place, levels) for place in range(len(file.study.constraints))]
        self._excluded = [0] * len(self._rules)

    @property
    def constrained(self) -> bool:
        return bool(self._rules)

    def allowed(self, combination: Combination) -> bool:
        return self._failed(combination) is None

    def all(self) -> Iterator[Combination]:
        """Every allowed one, in the order of the file; counts the others for `excluded`."""
        self._excluded = [0] * len(self._rules)
        for combination in itertools.product(*map(range, self.counts)):
            failed = self._failed(combination)
            if failed is None:
                yield combination
            else:
                self._excluded[failed] += 1

    def drawn(self, rng: random.Random) -> Combination:
        """An allowed one by chance. Raises HeapwrightError if there seems to be none."""
        for _ in range(PATIENCE):
            combination = self._any(rng)
            if self.allowed(combination):
                return combination
        raise HeapwrightError(f"of {PATIENCE:,} combinations by chance the constraints allow none")

    def count(self) -> int:
        """How many are allowed; about how many, if they are not enumerable."""
        if not self._rules:
            return self.total
        if self.enumerable:
            return sum(1 for _ in self.all())
        rng = random.Random("heapwright/estimate")
        failures = [self._failed(self._any(rng)) for _ in range(SAMPLE)]
        self._excluded = [
            failures.count(place) * self.total // SAMPLE for place in range(len(self._rules))
        ]
        return failures.count(None) * self.total // SAMPLE

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """As `all` or `count` has counted last."""
        return tuple(
            Excluded(rule.require, rule.because, count)
            for rule, count in zip(self._rules, self._excluded, strict=True)
        )

    def _any(self, rng: random.Random) -> Combination:
        return tuple([rng.randrange(count) for count in self.counts])

    def _failed(self, combination: Combination) -> int | None:
        """The first constraint that leaves it out."""
        for place, rule in enumerate(self._rules):
            if not rule.holds(combination):
                return place
        return None


class Cells(Combinations):
    """The combinations of all factors but one, which is always there in full.

    A cell is allowed if there is a level of that factor under which it is.
    """

    def __init__(
        self, file: StudyFile, levels: Mapping[str, Sequence[Level]], beside: str | None
    ) -> None:
        super().__init__(file, levels)
        self._column = list(levels).index(beside) if beside is not None else None
        self._beside = range(len(levels[beside])) if beside is not None else range(1)
        self.counts = tuple(
            count for column, count in enumerate(self.counts) if column != self._column
        )
        self.total = math.prod(self.counts)
        self.enumerable = self.total <= ENUMERABLE

    def whole(self, cell: Combination) -> Iterator[Combination]:
        """The combinations that a cell stands for, allowed or not."""
        if self._column is None:
            yield cell
            return
        for level in self._beside:
            yield (*cell[: self._column], level, *cell[self._column :])

    def _failed(self, combination: Combination) -> int | None:
        failed = [super(Cells, self)._failed(each) for each in self.whole(combination)]
        return None if None in failed else failed[0]
