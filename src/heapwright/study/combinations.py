# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""All combinations of levels that the constraints allow, without more in memory than requested.

A combination is a tuple of places, one for each factor in the file's order. It is built up factor
by factor. A constraint is evaluated as soon as all its factors are present, so forbidden
combinations are never built. Factors that no later constraint names are counted by multiplication.
A count that takes more than `MOST_STEPS` steps is not completed. The number is then estimated from
a sample (always the same one), and the result states that it is an estimate.
"""

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from heapwright.artefacts.study.condition import ConditionError, parse_condition
from heapwright.artefacts.study.factor import Level
from heapwright.artefacts.study.file import StudyFile
from heapwright.base.errors import HeapwrightError

MOST_STEPS = 1_000_000
MOST_ANSWERS = 100_000
"""Different questions to constraints while counting: a second or two."""
SAMPLE = 20_000
PATIENCE = 200_000
"""Draws until one is allowed."""

Combination = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Excluded:
    """What a constraint leaves out; a combination that several leave out counts for the first one
    evaluated."""

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
        self.columns = [names.index(factor) for factor in self.factors]
        self._levels = [levels[factor] for factor in self.factors]
        self._known: dict[Combination, bool] = {}

    @property
    def answers(self) -> int:
        """How many different questions it has answered."""
        return len(self._known)

    def holds(self, combination: Sequence[int]) -> bool:
        key = tuple([combination[column] for column in self.columns])
        answer = self._known.get(key)
        if answer is None:
            chosen = (levels[place] for levels, place in zip(self._levels, key, strict=True))
            try:
                answer = self._condition.holds(dict(zip(self.factors, chosen, strict=True)))
            except ConditionError as error:
                raise self._file.error(self._keys, str(error)) from error
            self._known[key] = answer
        return answer


class _TooManyStepsError(Exception):
    """There are more combinations than are worked through."""


class Combinations:
    """The combinations of some levels, with the constraints of a study file."""

    def __init__(self, file: StudyFile, levels: Mapping[str, Sequence[Level]]) -> None:
        rules = [_Rule(file, place, levels) for place in range(len(file.study.constraints))]
        self._set_up(rules, tuple(len(each) for each in levels.values()))

    def _set_up(self, rules: list[_Rule], counts: tuple[int, ...]) -> None:
        self.counts = counts
        self.total = math.prod(counts)
        self.constrained = bool(rules)
        self._rules = rules
        self._depths = [max(map(self._depth, rule.columns), default=0) for rule in rules]
        self._free = min(max(self._depths, default=-1) + 1, len(counts))
        """The first factor from which on no constraint names any."""
        self._rest = math.prod(counts[self._free :])
        self._excluded = [0] * len(rules)

    @cached_property
    def count(self) -> int:
        """How many are allowed; about how many, if that is not `exact`."""
        counted = self._counted
        return self._estimated() if counted is None else counted

    @property
    def exact(self) -> bool:
        """Whether all were worked through; only then can `all` be."""
        return self._counted is not None

    @cached_property
    def _counted(self) -> int | None:
        try:
            return sum(self._rest for _ in self._beginnings())
        except _TooManyStepsError:
            return None

    def all(self) -> Iterator[Combination]:
        """Every allowed one, in the order of the file."""
        free = [range(count) for count in self.counts[self._free :]]
        for beginning in self._beginnings():
            for rest in itertools.product(*free):
                yield (*beginning, *rest)

    def allowed(self, combination: Combination) -> bool:
        return all(self._failed(combination, depth) is None for depth in sorted(set(self._depths)))

    def drawn(self, rng: random.Random) -> Combination:
        """An allowed one by chance. Raises HeapwrightError if there seems to be none."""
        for _ in range(PATIENCE):
            combination = self._any(rng)
            if self.allowed(combination):
                return combination
        raise HeapwrightError(f"of {PATIENCE:,} combinations by chance the constraints allow none")

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """What each constraint leaves out; where the count is an estimate, so is this."""
        _ = self.count
        return tuple(
            Excluded(rule.require, rule.because, count)
            for rule, count in zip(self._rules, self._excluded, strict=True)
        )

    def _beginnings(self) -> Iterator[Combination]:
        """The allowed combinations of the factors before `_free`."""
        self._excluded = [0] * len(self._rules)
        steps = 0
        waiting: list[Combination] = [()]
        while waiting:
            beginning = waiting.pop()
            depth = len(beginning)
            if depth == self._free:
                yield beginning
                continue
            steps += self.counts[depth]
            if steps > MOST_STEPS or sum(rule.answers for rule in self._rules) > MOST_ANSWERS:
                raise _TooManyStepsError
            for level in reversed(range(self.counts[depth])):
                longer = (*beginning, level)
                failed = self._failed(longer, depth)
                if failed is None:
                    waiting.append(longer)
                else:
                    self._excluded[failed] += math.prod(self.counts[depth + 1 :])

    def _estimated(self) -> int:
        rng = random.Random("heapwright/estimate")
        self._excluded = [0] * len(self._rules)
        hits = 0
        for _ in range(SAMPLE):
            combination = self._any(rng)
            failures = (self._failed(combination, depth) for depth in sorted(set(self._depths)))
            failed = next((each for each in failures if each is not None), None)
            if failed is None:
                hits += 1
            else:
                self._excluded[failed] += 1
        self._excluded = [count * self.total // SAMPLE for count in self._excluded]
        return hits * self.total // SAMPLE

    def _any(self, rng: random.Random) -> Combination:
        return tuple([rng.randrange(count) for count in self.counts])

    def _depth(self, column: int) -> int:
        """Which place of a combination holds the factor of this column of the file."""
        return column

    def _failed(self, beginning: Combination, depth: int) -> int | None:
        """The first constraint evaluated at `depth` that leaves this out."""
        for place, rule in enumerate(self._rules):
            if self._depths[place] == depth and not rule.holds(beginning):
                return place
        return None


class Cells(Combinations):
    """The combinations of all factors but one, which is always there in full.

    A cell is allowed if there is a level of that factor under which it is.
    """

    def __init__(
        self, file: StudyFile, levels: Mapping[str, Sequence[Level]], beside: str | None
    ) -> None:
        self._column = list(levels).index(beside) if beside is not None else None
        self._beside = range(len(levels[beside])) if beside is not None else range(1)
        rules = [_Rule(file, place, levels) for place in range(len(file.study.constraints))]
        self._set_up(rules, tuple(len(each) for factor, each in levels.items() if factor != beside))

    def whole(self, cell: Combination) -> Iterator[Combination]:
        """The combinations that a cell stands for, allowed or not."""
        if self._column is None:
            yield cell
            return
        for level in self._beside:
            yield (*cell[: self._column], level, *cell[self._column :])

    def _depth(self, column: int) -> int:
        if self._column is None or column < self._column:
            return column
        return max(column - 1, 0)

    def _failed(self, beginning: Combination, depth: int) -> int | None:
        """Evaluates the earlier constraints again: all must hold under one and the same level."""
        asked = [place for place, each in enumerate(self._depths) if each <= depth]
        if depth not in self._depths:
            return None
        missing = (0,) * (len(self.counts) - len(beginning))  # no constraint asks for these yet
        failed: list[int] = []
        for combination in self.whole((*beginning, *missing)):
            wrong = next((i for i in asked if not self._rules[i].holds(combination)), None)
            if wrong is None:
                return None
            failed.append(wrong)
        return failed[0]
