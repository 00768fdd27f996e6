# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Sensitivity to the levels of a factor, such as that of programs to their allocators.

The verdict is for each level of a judging factor, and for each response there. Every level of the
judged factor has the ratio of its response to that of the baseline, from the blocked log-linear
model (`analysis.blocked`). A block is one of the study, at one combination of the other factors.
The intervals of a response hold at once (Dunnett), and those of all responses of a row together
(Bonferroni). With m the margin up to which differences do not matter, a response

  cares           if the whole interval of some level is beyond the margin, on either side;
  does not care   if the intervals of all levels are within it;
  cannot be told  otherwise.

A row cares if one of its responses does. It does not care if none does and all are decided.
Additional responses have figures but no influence.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from heapwright.analysis.blocked import Cells, comparable, fit
from heapwright.analysis.findings.engine import Interval, Region, every, judge, number, some
from heapwright.analysis.findings.rules import Question
from heapwright.analysis.intervals import simultaneous
from heapwright.artefacts.study.model import Study
from heapwright.artefacts.study.sensitivity import (
    Sensitivity,
    SensitivityOfResponse,
    SensitivityRow,
    SensitivityTable,
    SensitivityVerdict,
    Shift,
)
from heapwright.artefacts.study_analysis.answers import Answer
from heapwright.base.polars_package import pl

VERDICT = {
    Answer.HOLDS: SensitivityVerdict.YES,
    Answer.FAILS: SensitivityVerdict.NO,
    Answer.UNKNOWN: SensitivityVerdict.UNKNOWN,
}
"""Whether the row cares, in the words of the verdict."""
ANSWER = {verdict: answer for answer, verdict in VERDICT.items()}


def cares(study: Study, question: Question) -> SensitivityTable | None:
    """The verdicts that the study requests; None without a request.

    `question` has the good runs and the design; `study` is at the scale that was run.
    """
    asked = study.care
    if asked is None:
        return None
    baseline = study.factors[asked.factor].baseline_name
    assert baseline is not None
    margin = study.analysis.margin if asked.margin is None else asked.margin
    names = asked.responses or tuple(
        name
        for name, each in study.responses.items()
        if each.better != "none" and name not in asked.beside
    )
    judge = _Judge(asked, baseline, margin, study.analysis.confidence, question.design.seed)
    return SensitivityTable(
        factor=asked.factor,
        baseline=baseline,
        by=asked.by,
        responses=names,
        beside=asked.beside,
        margin=margin,
        confidence=study.analysis.confidence,
        rows=tuple(judge.row(question, level, names) for level in question.levels(asked.by)),
    )


class _Judge:
    """The shared input of all rows."""

    def __init__(
        self, asked: Sensitivity, baseline: str, margin: float, confidence: float, seed: int
    ) -> None:
        self._asked = asked
        self._baseline = baseline
        self._limit = math.log1p(margin)
        self._confidence = confidence
        self._seed = seed

    def row(self, question: Question, level: str, names: Sequence[str]) -> SensitivityRow:
        here = question.within({self._asked.by: (level,)})
        there = [*question.levels(self._asked.factor)]
        if self._baseline not in there:
            return SensitivityRow(
                level=level,
                cares=SensitivityVerdict.UNKNOWN,
                words=f"nothing to hold against: {self._baseline} has no good run",
                responses=(),
            )
        there.remove(self._baseline)
        keys = (self._baseline, *there)
        tables = {name: self._cells(here, name, keys) for name in (*names, *self._asked.beside)}
        with_figures = {name: each for name, each in tables.items() if each is not None}
        confidence = 1 - (1 - self._confidence) / max(1, len(with_figures))
        found = tuple(
            self._response(name, cells, confidence, question.better(name))
            for name, cells in with_figures.items()
        )
        judged = [each for each in found if each.response in names]
        verdict = _together([each.cares for each in judged])
        return SensitivityRow(
            level=level, cares=verdict, words=_words(judged, verdict), responses=found
        )

    def _cells(self, here: Question, response: str, levels: Sequence[str]) -> Cells | None:
        """Logarithms, a row for each block at each combination of the others; None: no figures."""
        if response not in {each.name for each in here.design.responses}:
            return None
        table = here.runs.logarithms(response)
        factor = self._asked.factor
        others = [name for name in here.runs.factors if name not in (factor, self._asked.by)]
        wide = (
            table.filter(pl.col(factor).is_in(list(levels)))
            .group_by(["block", *others, factor])
            .agg(pl.col("value").mean())
            .pivot(on=factor, index=["block", *others], values="value")
            .sort(["block", *others])
        )
        if self._baseline not in wide.columns:
            return None
        columns = [
            wide[each].cast(pl.Float64).fill_null(math.nan).to_numpy()
            if each in wide.columns
            else np.full(len(wide), math.nan)
            for each in levels
        ]
        return Cells(tuple((each, "") for each in levels), np.column_stack(columns))

    def _response(
        self, name: str, cells: Cells, confidence: float, better: str
    ) -> SensitivityOfResponse:
        kept = comparable(cells)
        fitted = fit(kept)
        intervals = simultaneous(fitted, confidence, self._seed)
        shifts = [
            Shift(
                level=key[0],
                ratio=number(float(fitted.effects[at])),
                low=_bound(float(intervals.low[at])),
                high=_bound(float(intervals.high[at])),
                runs=int(fitted.runs[at]),
            )
            for at, key in enumerate(kept.treatments)
            if at > 0
        ]
        ends = [
            (float(intervals.low[at]), float(intervals.high[at]))
            for at in range(1, len(kept.treatments))
        ]
        left = [key[0] for key in cells.treatments if key not in kept.treatments]
        column = cells.log_values[:, 0]
        return SensitivityOfResponse(
            response=name,
            cares=self._verdict(ends),
            base=number(float(np.nanmean(column))),
            shifts=tuple(sorted(shifts, key=lambda each: each.ratio, reverse=better == "higher")),
            why=f"without a good run beside {self._baseline}: {', '.join(left)}" if left else "",
        )

    def _verdict(self, ends: Sequence[Interval]) -> SensitivityVerdict:
        beyond = Region(-self._limit, self._limit, closed=True, outside=True)
        within = Region(-self._limit, self._limit)
        if some(judge(each, beyond) for each in ends) is Answer.HOLDS:
            return SensitivityVerdict.YES
        told = every(judge(each, within) for each in ends) is Answer.HOLDS
        return SensitivityVerdict.NO if told else SensitivityVerdict.UNKNOWN


def _together(verdicts: Sequence[SensitivityVerdict]) -> SensitivityVerdict:
    return VERDICT[some(ANSWER[verdict] for verdict in verdicts)]


def _words(found: Sequence[SensitivityOfResponse], verdict: SensitivityVerdict) -> str:
    """As in: cares: time from 0.86 (jemalloc) to 1.12 (hoard), memory …; cpu cannot be told."""
    named = [each for each in found if each.cares is verdict]
    parts = chain(_spans(named), _rest([each for each in found if each.cares is not verdict]))
    said = "; ".join(parts)
    return f"{verdict.value}: {said}" if said else verdict.value


def _spans(found: Iterable[SensitivityOfResponse]) -> Iterator[str]:
    for each in found:
        if each.shifts:
            best, worst = each.shifts[0], each.shifts[-1]
            yield (
                f"{each.response} from {best.ratio:.2f} ({best.level}) to {worst.ratio:.2f} "
                f"({worst.level})"
            )


def _rest(found: Sequence[SensitivityOfResponse]) -> Iterator[str]:
    for verdict in (SensitivityVerdict.NO, SensitivityVerdict.UNKNOWN):
        names = [each.response for each in found if each.cares is verdict]
        if names:
            words = "does not differ" if verdict is SensitivityVerdict.NO else verdict.value
            yield f"{', '.join(names)} {words}"


def _bound(value: float) -> float | None:
    return number(value) if math.isfinite(value) else None
