# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether one level of a factor meets the bar that a study sets for it.

A line of the bar limits the distance of the level's response from that of the best rival. It is
over all treatments (geometric means), or at each of some places. The figure of a rival at a place
is a ratio that is computed block by block. A level near the best rival is near each rival, so the
figure of the line is the worst of all. Its interval is that of the worst, at the study's confidence
1 - a. With m figures, each found from its blocks by Student's t,

  the farther end  is the farthest of the figures' farther ends, each with the chance a/2. The worst
                   figure lies beyond its own end by that chance only, and so beyond the farthest
                   (the intersection-union test; Berger 1982);
  the nearer end   is the farthest of the figures' nearer ends, each with the chance a/2m
                   (Bonferroni), for there each of the m may be beyond by chance.

A line is met if its farther end is within the limit. It is not met if its nearer end is beyond the
limit, or if a run of the level ended badly. Otherwise it is undecided. Rivals that were not run are
ignored.

R. L. Berger, Multiparameter hypothesis testing and acceptance sampling, Technometrics 24 (1982).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from heapwright.analysis.findings import contrasts
from heapwright.analysis.findings.engine import Region, every, judge
from heapwright.analysis.findings.rules import Question
from heapwright.analysis.findings.sample import SOLE_BLOCK, Sample
from heapwright.artefacts.study.acceptance import (
    Acceptance,
    AcceptanceFigure,
    AcceptanceLine,
    AcceptanceResult,
    AcceptanceTable,
    Met,
)
from heapwright.artefacts.study.model import Study
from heapwright.artefacts.study_analysis.answers import Answer
from heapwright.artefacts.study_results.runs import StudyDesign
from heapwright.base.polars_package import pl

Scope = Mapping[str, str]
MET = {Answer.HOLDS: Met.MET, Answer.FAILS: Met.NOT, Answer.UNKNOWN: Met.UNKNOWN}
ANSWER = {met: answer for answer, met in MET.items()}


def hold(study: Study, question: Question, frame: pl.DataFrame) -> AcceptanceTable | None:
    """The result of each line of the study's bar; None if it has no bar.

    `question` has the good runs and the design, `frame` all runs as `Results.frame` has them;
    `study` is at the scale that was run.
    """
    bar = study.bar
    if bar is None:
        return None
    every = bar.rivals or question.candidates(bar.factor)
    rivals = tuple(each for each in every if each != bar.level)
    asker = _Asker(bar, question, frame, study.analysis.confidence)
    lines = tuple(asker.result(line, line.against or rivals) for line in bar.lines)
    return AcceptanceTable(
        factor=bar.factor,
        level=bar.level,
        rivals=tuple(each for each in rivals if not question.absent(bar.factor, each)),
        confidence=study.analysis.confidence,
        verdict=_all([line.verdict for line in lines]),
        lines=lines,
    )


@dataclass(frozen=True, slots=True)
class _Compared:
    """A rival at one place, before its interval."""

    scope: Scope
    rival: str
    sample: Sample


@dataclass(frozen=True, slots=True)
class _Asker:
    """The shared input of all lines of a bar."""

    bar: Acceptance
    question: Question
    frame: pl.DataFrame
    confidence: float

    def result(self, line: AcceptanceLine, rivals: Sequence[str]) -> AcceptanceResult:
        missing = self._missing(line)
        if missing:
            return AcceptanceResult(
                words=line.words,
                response=line.response,
                asked=line.asked,
                verdict=Met.UNKNOWN,
                ratio=None,
                why=missing,
            )
        scopes = list(_scopes(self.question.design, self.bar, line))
        compared = [each for scope in scopes for each in self._compared(line, scope, rivals)]
        figures = _figures(compared, line, self.confidence)
        spoilt = self._spoilt(line)
        why = [_spoilt_words(spoilt, self.bar.level)] if spoilt else []
        why += self._left_out(rivals, scopes, compared)
        return _judged(line, figures, why, spoilt=spoilt > 0)

    def _missing(self, line: AcceptanceLine) -> str:
        """Why there can be no figure; empty if there can."""
        if line.response not in {each.name for each in self.question.design.responses}:
            return f"{line.response} was not measured"
        return self.question.absent(self.bar.factor, self.bar.level)

    def _compared(
        self, line: AcceptanceLine, scope: Scope, rivals: Sequence[str]
    ) -> Iterator[_Compared]:
        places = {factor: (level,) for factor, level in scope.items()}
        runs = self.question.runs.at(self._levels(line)).at(places)
        for rival in rivals:
            of, to = {self.bar.factor: self.bar.level}, {self.bar.factor: rival}
            sample = contrasts.ratio(runs, line.response, of, to, self.bar.by)
            if len(sample):
                yield _Compared(scope, rival, sample)

    def _levels(self, line: AcceptanceLine) -> Mapping[str, tuple[str, ...]]:
        """The levels that the line is about, of each factor that it limits."""
        every = {each.name: each.levels for each in self.question.design.factors}
        return {
            factor: tuple(
                level
                for level in every[factor]
                if level in line.where.get(factor, (level,))
                and level not in line.but.get(factor, ())
            )
            for factor in (*line.where, *line.but)
        }

    def _spoilt(self, line: AcceptanceLine) -> int:
        """Measured runs of the level that did not end well."""
        bad = self.frame.filter(
            (pl.col("outcome") != "ok") & ~pl.col("warmup"),
            pl.col(self.bar.factor) == self.bar.level,
        )
        return sum(line.about(levels) for levels in bad.iter_rows(named=True))

    def _left_out(
        self, rivals: Sequence[str], scopes: Sequence[Scope], compared: Sequence[_Compared]
    ) -> list[str]:
        """Notes on ignored data, each once."""
        said = [self.question.absent(self.bar.factor, rival) for rival in rivals]
        there = {each.rival for each in compared}
        for scope in scopes:
            found = {each.rival for each in compared if each.scope == scope}
            lost = [rival for rival in rivals if rival in there - found]
            if lost and found:
                said.append(f"no figures of {', '.join(lost)} at {', '.join(scope.values())}")
            if not found:
                said.append(f"no figures at {', '.join(scope.values())}" if scope else "no figures")
        for each in compared:
            said += [f"{each.rival}: {note}" for note in each.sample.notes]
            if len(each.sample) == 1:
                said.append(SOLE_BLOCK)
        return list(dict.fromkeys(filter(None, said)))


def _spoilt_words(count: int, level: str) -> str:
    return f"{count} run{'' if count == 1 else 's'} of {level} ended badly"


def _scopes(design: StudyDesign, bar: Acceptance, line: AcceptanceLine) -> Iterator[Scope]:
    """The places of the line, in the order of the design."""
    seen: set[tuple[str, ...]] = set()
    for cell in design.treatments:
        place = tuple(cell.levels[factor] for factor in line.each)
        if line.about(cell.levels) and cell.levels[bar.factor] == bar.level and place not in seen:
            seen.add(place)
            yield dict(zip(line.each, place, strict=True))


def _figures(
    compared: Sequence[_Compared], line: AcceptanceLine, confidence: float
) -> tuple[AcceptanceFigure, ...]:
    """All figures, the worst first."""
    figures = [_figure(each, line, confidence, len(compared)) for each in compared]
    sign = _sign(line)
    return tuple(sorted(figures, key=lambda each: -sign * each.ratio))


def _figure(
    compared: _Compared, line: AcceptanceLine, confidence: float, many: int
) -> AcceptanceFigure:
    sample = compared.sample
    assert sample.mean is not None  # samples without a block are left out before
    own, simultaneous = (
        sample.interval(level) for level in (confidence, 1 - (1 - confidence) / many)
    )
    low = high = None
    if own is not None and simultaneous is not None:
        low, high = (simultaneous[0], own[1]) if _sign(line) > 0 else (own[0], simultaneous[1])
    return AcceptanceFigure(
        scope=dict(compared.scope),
        rival=compared.rival,
        ratio=math.exp(sample.mean),
        low=None if low is None else math.exp(low),
        high=None if high is None else math.exp(high),
        blocks=len(sample),
    )


def _sign(line: AcceptanceLine) -> int:
    """1 if large ratios are bad, -1 if small ones are."""
    return -1 if line.at_most is None else 1


def _judged(
    line: AcceptanceLine, figures: Sequence[AcceptanceFigure], why: list[str], *, spoilt: bool
) -> AcceptanceResult:
    worst = figures[0] if figures else None
    farthest = max if _sign(line) > 0 else min
    lows = [each.low for each in figures if each.low is not None]
    highs = [each.high for each in figures if each.high is not None]
    whole = len(lows) == len(figures) > 0
    low, high = (farthest(lows), farthest(highs)) if whole else (None, None)
    verdict = _verdict(line, low, high, spoilt=spoilt)
    if verdict is Met.MET and any(each.startswith("no figures at") for each in why):
        verdict = Met.UNKNOWN
    return AcceptanceResult(
        words=line.words,
        response=line.response,
        asked=line.asked,
        verdict=verdict,
        ratio=None if worst is None else worst.ratio,
        low=low,
        high=high,
        rival="" if worst is None else worst.rival,
        scope={} if worst is None else worst.scope,
        figures=tuple(figures),
        why="; ".join(why),
    )


def _verdict(line: AcceptanceLine, low: float | None, high: float | None, *, spoilt: bool) -> Met:
    if spoilt:
        return Met.NOT
    interval = None if low is None or high is None else (low, high)
    below, above = (line.limit, None) if _sign(line) > 0 else (None, line.limit)
    return MET[judge(interval, Region(above, below, closed=True))]


def _all(verdicts: Sequence[Met]) -> Met:
    return MET[every(ANSWER[verdict] for verdict in verdicts)]
