# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether one level of a factor is worth it: a program's own allocator against the others.

At each level of the factor that it is judged by, every rival has the ratio of its response to that
of the judged level: block by block, with an interval by Student's t that is simultaneous over all
figures of the row (Bonferroni). With m the margin up to which differences do not matter, the judged
level, in one response,

  pays            if every rival is shown to be worse by more than m: no choice among them, made
                  before or after the runs, does as well;
  costs           if some rival is shown to be better by more than m;
  is matched      if some rival is shown to be not worse by more than m;
  cannot be told  otherwise.

Over all responses it is worth it if it pays in one and costs in none, a trade if it does both, and
not worth it if it pays in none and all of them could be told.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from heapwright.analysis.findings import contrasts
from heapwright.analysis.findings.rules import Question
from heapwright.analysis.findings.sample import SOLE_BLOCK, Sample
from heapwright.artefacts.study import Study
from heapwright.artefacts.study_choice import (
    Choice,
    ChoiceRow,
    ChoiceTable,
    Judged,
    Overall,
    Rival,
    Worth,
)
from heapwright.artefacts.study_factor import scalar_text

LARGEST = 700.0
"""A logarithm whose number can just be written down."""


@dataclass(frozen=True, slots=True)
class _Compared:
    """A rival before its interval."""

    level: str
    sample: Sample
    missing: str


def choose(study: Study, question: Question) -> ChoiceTable | None:
    """The verdicts that the study asks for; None if it asks for none.

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
    return ChoiceTable(
        factor=choice.factor,
        custom=choice.custom,
        by=choice.by,
        about=choice.about,
        margin=margin,
        confidence=study.analysis.confidence,
        rows=rows,
    )


def responses_of(study: Study, choice: Choice) -> tuple[str, ...]:
    """What is judged: those that are named, or all that have a better side."""
    if choice.responses:
        return choice.responses
    return tuple(name for name, each in study.responses.items() if each.better != "none")


def _row(
    study: Study, question: Question, level: str, about: dict[str, str], margin: float
) -> ChoiceRow:
    choice = study.choice
    assert choice is not None
    here = question.within({choice.by: (level,)})
    names = responses_of(study, choice)
    found = [
        [list(_compared(here, choice, name, levels)) for levels in (choice.general, choice.instead)]
        for name in names
    ]
    figures = sum(len(each.sample) > 0 for sides in found for side in sides for each in side)
    confidence = 1 - (1 - study.analysis.confidence) / max(1, figures)
    judged = tuple(
        _judged(name, general, instead, confidence, _Scale(margin, question.better(name)))
        for name, (general, instead) in zip(names, found, strict=True)
    )
    overall = _overall([each.worth for each in judged])
    return ChoiceRow(
        level=level, about=about, overall=overall, words=_words(judged), responses=judged
    )


def _compared(
    question: Question, choice: Choice, response: str, levels: Sequence[str]
) -> Iterator[_Compared]:
    to = {choice.factor: choice.custom}
    for level in levels:
        of = {choice.factor: level}
        missing = question.any_absent(to) or question.any_absent(of)
        if response not in {each.name for each in question.design.responses}:
            missing = f"{response} was not measured"
        sample = Sample() if missing else contrasts.ratio(question.runs, response, of, to)
        if not missing and not len(sample):
            missing = "there are no runs to compare"
        yield _Compared(level, sample, missing)


@dataclass(frozen=True, slots=True)
class _Scale:
    """Which side of a ratio is worse, and from where on that matters."""

    margin: float
    better: str

    @property
    def sign(self) -> int:
        return -1 if self.better == "higher" else 1

    def worth(self, rivals: Sequence[Rival]) -> Worth:
        """Of the judged level against these."""
        ends = [self._ends(each) for each in rivals]
        told = [each for each in ends if each is not None]
        limit = math.log1p(self.margin)
        if any(high < -limit for _, high in told):
            return Worth.COSTS
        if any(high < limit for _, high in told):
            return Worth.MATCHED
        # Of those that were run; the others are named in `why`.
        told_all = bool(told) and len(told) == sum(each.ratio is not None for each in rivals)
        pays = told_all and all(low > limit for low, _ in told)
        return Worth.PAYS if pays else Worth.UNKNOWN

    def _ends(self, rival: Rival) -> tuple[float, float] | None:
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


def _judged(
    response: str,
    general: Sequence[_Compared],
    instead: Sequence[_Compared],
    confidence: float,
    scale: _Scale,
) -> Judged:
    rivals = sorted((_rival(each, confidence) for each in general), key=scale.worse)
    absent = [each.why for each in rivals if each.ratio is None]
    return Judged(
        response=response,
        worth=scale.worth(rivals),
        general=tuple(rivals),
        instead=tuple(_rival(each, confidence) for each in instead),
        why="; ".join(dict.fromkeys(absent)),
    )


def _rival(compared: _Compared, confidence: float) -> Rival:
    sample = compared.sample
    interval = sample.interval(confidence)
    low, high = (None, None) if interval is None else map(_exp, interval)
    reasons = [compared.missing, *sample.notes]
    if len(sample) == 1:
        reasons.insert(0, SOLE_BLOCK)
    return Rival(
        level=compared.level,
        ratio=None if sample.mean is None else _exp(sample.mean),
        low=low,
        high=high,
        blocks=len(sample),
        why="; ".join(filter(None, reasons)),
    )


def _exp(value: float) -> float:
    return math.exp(min(max(value, -LARGEST), LARGEST))


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
