# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether one level of a factor is worth it: a program's own allocator against the others.

The verdict is for each level of a judging factor. Every rival has the ratio of its response to that
of the judged level, block by block. The interval is by Student's t and simultaneous over all
figures of the row (Bonferroni). With m the margin up to which differences do not matter, the judged
level, in one response,

  pays            if every rival is shown to be worse by more than m: no choice among them, made
                  before or after the runs, does as well;
  costs           if some rival is shown to be better by more than m;
  is matched      if some rival is shown to be not worse by more than m;
  cannot be told  otherwise.

Several levels may be judged together (`also`: a program's allocator over another malloc). The
choice pays if it pays for one of them. A rival must be better, or not worse, than all of them.
Otherwise it may only be better than the malloc below.

Over all responses it is worth it if it pays in one and costs in none. It is a trade if it does
both. It is not worth it if it pays in none and all of them are decided.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from heapwright.analysis.findings import contrasts
from heapwright.analysis.findings.engine import Interval, Region, estimate, every, judge, some
from heapwright.analysis.findings.rules import Question
from heapwright.analysis.findings.sample import Sample
from heapwright.artefacts.study.factor import scalar_text
from heapwright.artefacts.study.model import Study
from heapwright.artefacts.study.substitution import (
    Judged,
    Overall,
    Rival,
    Substitution,
    SubstitutionRow,
    SubstitutionTable,
    Worth,
)
from heapwright.artefacts.study_analysis.answers import Answer


@dataclass(frozen=True, slots=True)
class _Compared:
    """A rival before its interval."""

    level: str
    sample: Sample
    missing: str


def choose(study: Study, question: Question) -> SubstitutionTable | None:
    """The verdicts that the study requests; None without a request.

    `question` has the good runs and the design; `study` is at the scale that was run.
    """
    choice = study.choice
    if choice is None:
        return None
    margin = study.analysis.margin if choice.margin is None else choice.margin
    about = {
        level.name: {key: scalar_text(level.keys.get(key, "")) for key in choice.about}
        for level in study.factors[choice.by].items
    }
    rows = tuple(
        _row(study, question, level, about.get(level, {}), margin)
        for level in question.levels(choice.by)
    )
    return SubstitutionTable(
        factor=choice.factor,
        custom=choice.custom,
        by=choice.by,
        about=choice.about,
        margin=margin,
        confidence=study.analysis.confidence,
        rows=rows,
    )


def responses_of(study: Study, choice: Substitution) -> tuple[str, ...]:
    """The judged responses: the named ones, or all with a better direction."""
    if choice.responses:
        return choice.responses
    return tuple(name for name, each in study.responses.items() if each.better != "none")


def _row(
    study: Study, question: Question, level: str, about: dict[str, str], margin: float
) -> SubstitutionRow:
    choice = study.choice
    assert choice is not None
    here = question.within({choice.by: (level,)})
    names = responses_of(study, choice)
    found = [_sides(here, choice, name) for name in names]
    figures = sum(len(each.sample) > 0 for sides in found for each in sides.all)
    confidence = 1 - (1 - study.analysis.confidence) / max(1, figures)
    judged = tuple(
        _judged(name, sides, confidence, _Scale(margin, question.better(name)))
        for name, sides in zip(names, found, strict=True)
    )
    overall = _overall([each.worth for each in judged])
    return SubstitutionRow(
        level=level, about=about, overall=overall, words=_words(judged), responses=judged
    )


@dataclass(frozen=True, slots=True)
class _Sides:
    """All comparisons of one response."""

    general: list[_Compared]
    """To the judged level."""
    against: list[list[_Compared]]
    """The same to each of those that are judged with it."""
    also: list[_Compared]
    instead: list[_Compared]

    @property
    def all(self) -> list[_Compared]:
        against = [each for rivals in self.against for each in rivals]
        return [*self.general, *against, *self.also, *self.instead]


def _sides(question: Question, choice: Substitution, response: str) -> _Sides:
    def compared(levels: Sequence[str], to: str) -> list[_Compared]:
        return [_compared(question, choice.factor, response, level, to) for level in levels]

    there = [each for each in choice.also if not question.absent(choice.factor, each)]
    return _Sides(
        general=compared(choice.general, choice.custom),
        against=[compared(choice.general, each) for each in there],
        also=compared(choice.also, choice.custom),
        instead=compared(choice.instead, choice.custom),
    )


def _compared(question: Question, factor: str, response: str, level: str, to: str) -> _Compared:
    missing = question.absent(factor, to) or question.absent(factor, level)
    if response not in {each.name for each in question.design.responses}:
        missing = f"{response} was not measured"
    if missing:
        return _Compared(level, Sample(), missing)
    sample = contrasts.ratio(question.runs, response, {factor: level}, {factor: to})
    return _Compared(level, sample, "" if len(sample) else "there are no runs to compare")


@dataclass(frozen=True, slots=True)
class _Scale:
    """Which side of a ratio is worse, and from where on that matters."""

    margin: float
    better: str

    @property
    def sign(self) -> int:
        return -1 if self.better == "higher" else 1

    def worth(self, against: Sequence[Sequence[Rival]]) -> Worth:
        """Of the judged levels; for each of them all rivals, in the same order.

        Missing levels are ignored. A rival is known if it can be compared with all judged levels.
        """
        known = [each for each in zip(*against, strict=True) if None not in _ratios(each)]
        ends = [[self._ends(each) for each in rivals] for rivals in known]
        told = [[each for each in rivals if each is not None] for rivals in ends]
        if not known or told != ends:
            return Worth.UNKNOWN
        limit = math.log1p(self.margin)
        if _some_rival(told, Region(below=-limit)):
            return Worth.COSTS
        if _some_rival(told, Region(below=limit)):
            return Worth.MATCHED
        worse = Region(above=limit)
        pays = some(
            every(judge(each, worse) for each in rivals) for rivals in zip(*told, strict=True)
        )
        return Worth.PAYS if pays is Answer.HOLDS else Worth.UNKNOWN

    def _ends(self, rival: Rival) -> Interval | None:
        """How much worse the rival is, as logarithms: at least and at most."""
        if rival.low is None or rival.high is None:
            return None
        ends = sorted(self.sign * math.log(each) for each in (rival.low, rival.high))
        return ends[0], ends[1]

    def worse(self, rival: Rival) -> float:
        """The order of rivals: the best first, those without a figure last."""
        if rival.ratio is None:
            return math.inf
        return self.sign * rival.ratio


def _judged(response: str, sides: _Sides, confidence: float, scale: _Scale) -> Judged:
    def rivals(compared: Sequence[_Compared]) -> tuple[Rival, ...]:
        return tuple(_rival(each, confidence) for each in compared)

    general = rivals(sides.general)
    also = rivals(sides.also)
    absent = [each.why for each in (*general, *also) if each.ratio is None]
    return Judged(
        response=response,
        worth=scale.worth([general, *map(rivals, sides.against)]),
        general=tuple(sorted(general, key=scale.worse)),
        also=also,
        instead=rivals(sides.instead),
        why="; ".join(dict.fromkeys(absent)),
    )


def _some_rival(rivals: Sequence[Sequence[Interval]], region: Region) -> bool:
    """Whether a rival lies in the region against every level that is judged."""
    answers = (every(judge(each, region) for each in levels) for levels in rivals)
    return some(answers) is Answer.HOLDS


def _rival(compared: _Compared, confidence: float) -> Rival:
    found = estimate(compared.sample, confidence)
    return Rival(
        level=compared.level,
        ratio=found.value,
        low=found.low,
        high=found.high,
        blocks=found.blocks,
        why="; ".join(filter(None, [compared.missing, *found.notes])),
    )


def _ratios(rivals: Sequence[Rival]) -> list[float | None]:
    return [each.ratio for each in rivals]


def _overall(worths: Sequence[Worth]) -> Overall:
    if Worth.PAYS in worths:
        return Overall.TRADE if Worth.COSTS in worths else Overall.WORTH
    if Worth.UNKNOWN in worths or not worths:
        return Overall.UNKNOWN
    return Overall.NOT


def _words(judged: Sequence[Judged]) -> str:
    """As in: pays in time (lea needs 1.21); is matched in memory (glibc needs 1.00)."""
    return "; ".join(map(_said, judged))


def _said(judged: Judged) -> str:
    best = judged.best
    if judged.worth is Worth.UNKNOWN:
        said = f"{judged.response} {judged.worth.value}"
    else:
        said = f"{judged.worth.value} in {judged.response}"
    return said if best is None else f"{said} ({best.level} {best.ratio:.2f})"
