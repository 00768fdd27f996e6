# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""From a rule to the figures that answer it, each still without its interval."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch
from itertools import combinations, pairwise

from heapwright.analysis.findings import contrasts
from heapwright.analysis.findings.engine import Region
from heapwright.analysis.findings.sample import Runs, Sample
from heapwright.artefacts.study.finding import (
    Even,
    Growth,
    Influence,
    Ranking,
    Ratio,
    Rule,
    Value,
)
from heapwright.artefacts.study_results.runs import StudyDesign


@dataclass(frozen=True, slots=True)
class Wanted:
    """One figure of a rule."""

    what: str
    region: Region
    sample: Callable[[], Sample]
    logarithm: bool = True
    """The sample holds logarithms of the figure."""
    unit: str = ""
    missing: str = ""
    """Why there cannot be one; then nothing is computed."""


@dataclass(frozen=True, slots=True)
class Question:
    """The input of a rule: the runs and their design."""

    runs: Runs
    design: StudyDesign
    margin: float
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What the runs are limited to."""

    def within(self, where: Mapping[str, Sequence[str]]) -> "Question":
        """The same, asked of the runs with these levels only."""
        return replace(self, runs=self.runs.at(where), where=where)

    @property
    def less(self) -> float:
        """The ratio that is less than 1 by the margin."""
        return 1 / (1 + self.margin)

    @property
    def scope(self) -> str:
        """The limits of the runs, in words."""
        said = [_level(name, " or ".join(levels)) for name, levels in self.where.items()]
        return f" ({', '.join(said)})" if said else ""

    def candidates(self, factor: str) -> tuple[str, ...]:
        """All levels of a ranking, including those that could not be run."""
        every = next(each.levels for each in self.design.factors if each.name == factor)
        lost = [each.level for each in self.design.dropped if each.factor == factor]
        allowed = self.where.get(factor)
        found = dict.fromkeys((*every, *lost))
        return tuple(level for level in found if allowed is None or level in allowed)

    def levels(self, factor: str) -> tuple[str, ...]:
        """Those of the factor that were run, in the order of the study."""
        found = set(self.runs.frame[factor].unique())
        every = next(each.levels for each in self.design.factors if each.name == factor)
        return tuple(level for level in every if level in found)

    def better(self, response: str) -> str:
        found = (each.better for each in self.design.responses if each.name == response)
        return next(found, "lower")

    def unit(self, response: str) -> str:
        return next((each.unit for each in self.design.responses if each.name == response), "")

    def absent(self, factor: str, level: str) -> str:
        """Why a level was not run; empty if it was."""
        if level in self.levels(factor):
            return ""
        for dropped in self.design.dropped:
            if (dropped.factor, dropped.level) == (factor, level):
                return f"{factor} {level} was not run: {dropped.because}"
        every = next(each.levels for each in self.design.factors if each.name == factor)
        if level in every:
            return f"{factor} {level} has no good measured run"
        return f"{factor} {level} was not run at this scale"

    def any_absent(self, levels: Mapping[str, str]) -> str:
        return next(filter(None, (self.absent(*each) for each in levels.items())), "")


@singledispatch
def wanted(rule: Rule, question: Question) -> Iterator[Wanted]:
    """The figures that the rule needs, within the runs that it is limited to."""
    raise TypeError(f"no way to ask {rule} of {question}")


@wanted.register
def _ratio(rule: Ratio, question: Question) -> Iterator[Wanted]:
    region = Region(_beyond(rule.above, 1 + question.margin), _beyond(rule.below, question.less))
    yield _compared(question, rule.response, rule.of, rule.to, region)


def _beyond(bound: float | None, margin: float) -> float | None:
    """The bound of a ratio. The margin replaces a bound of 1, which only says which is larger."""
    return margin if bound == 1 else bound


@wanted.register
def _value(rule: Value, question: Question) -> Iterator[Wanted]:
    yield Wanted(
        f"{rule.response}{question.scope}",
        Region(rule.above, rule.below),
        lambda: contrasts.mean(question.runs, rule.response),
        logarithm=False,
        unit=question.unit(rule.response),
    )


@wanted.register
def _growth(rule: Growth, question: Question) -> Iterator[Wanted]:
    factor = next(each for each in question.design.factors if each.name == rule.by)
    values = dict(zip(factor.levels, factor.values, strict=False))
    present = {level: values[level] for level in question.levels(rule.by) if level in values}
    missing = "" if len(present) > 1 else f"fewer than two levels of {rule.by} were run"
    yield Wanted(
        f"exponent of {rule.by} in {rule.response}{question.scope}",
        Region(rule.above, rule.below),
        lambda: contrasts.exponent(question.runs, rule.response, rule.by, present),
        logarithm=False,
        missing=missing,
    )


@wanted.register
def _ranking(rule: Ranking, question: Question) -> Iterator[Wanted]:
    for better, worse in _ordered_pairs(rule, question.candidates(rule.factor)):
        one, other = {rule.factor: worse}, {rule.factor: better}
        higher = question.better(rule.response) == "higher"
        region = Region(below=question.less) if higher else Region(above=1 + question.margin)
        yield _compared(question, rule.response, one, other, region)


def _ordered_pairs(rule: Ranking, among: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pairs of a level that has to be better and one that has to be worse."""
    if rule.order:
        groups = list(rule.order)
        for upper, lower in pairwise(groups):
            yield from ((better, worse) for better in upper for worse in lower)
    for named in rule.first:
        yield from ((named, other) for other in among if other not in rule.first)
    for named in rule.last:
        yield from ((other, named) for other in among if other not in rule.last)


@wanted.register
def _influence(rule: Influence, question: Question) -> Iterator[Wanted]:
    margin = rule.margin or question.margin
    region = Region(1 / (1 + margin), 1 + margin, outside=rule.expected)
    levels = question.levels(rule.factor)
    if len(levels) < 2:
        missing = f"fewer than two levels of {rule.factor} were run"
        yield Wanted(f"{rule.response} by {rule.factor}", region, Sample, missing=missing)
    for one, other in combinations(levels, 2):
        of, to = {rule.factor: other}, {rule.factor: one}
        yield _compared(question, rule.response, of, to, region)


@wanted.register
def _even(rule: Even, question: Question) -> Iterator[Wanted]:
    missing = question.absent(rule.factor, rule.level)
    least = {rule.factor: rule.level}
    for level in question.levels(rule.factor):
        if level != rule.level:
            yield _spread(rule, {rule.factor: level}, least, question, missing)


def _spread(
    rule: Even, of: Mapping[str, str], to: Mapping[str, str], question: Question, missing: str
) -> Wanted:
    return Wanted(
        f"largest over smallest {rule.response} along {rule.along}{question.scope}: "
        f"{_levels(of)} over {_levels(to)}",
        Region(above=1 + question.margin),
        lambda: contrasts.spread(question.runs, rule.response, of, to, rule.along),
        missing=missing,
    )


def _compared(
    question: Question,
    response: str,
    of: Mapping[str, str],
    to: Mapping[str, str],
    region: Region,
) -> Wanted:
    return Wanted(
        f"{response}{question.scope}: {_levels(of)} over {_levels(to)}",
        region,
        lambda: contrasts.ratio(question.runs, response, of, to),
        missing=question.any_absent(of) or question.any_absent(to),
    )


def _levels(levels: Mapping[str, str]) -> str:
    return ", ".join(_level(factor, level) for factor, level in levels.items())


def _level(factor: str, level: str) -> str:
    """A level by its name; with the factor's where it would not speak for itself."""
    return level if factor == "allocator" else f"{factor} {level}"
