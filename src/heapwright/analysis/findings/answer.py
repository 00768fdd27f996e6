# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether each published finding of a study holds in its runs.

Every figure has an interval that is simultaneous over the figures of its finding (Bonferroni: the
intervals of m figures have the confidence 1 - a/m each, so that all of them together have 1 - a).
A figure holds if its whole interval lies where the rule says, and does not if all of it lies
elsewhere. A finding holds if all its figures do; it does not if one of them does not, for then it
is refuted; else it cannot be told. Of a factor that is to have an influence, one pair of levels is
enough, and all pairs are needed to refute it.
"""

import math
from collections.abc import Sequence

import polars as pl

from heapwright.analysis.findings.rules import Band, Question, Wanted, wanted
from heapwright.analysis.findings.sample import SOLE_BLOCK, Runs, Sample
from heapwright.artefacts.study.finding import Finding, Influence, Rule, Value
from heapwright.artefacts.study.model import Study
from heapwright.artefacts.study_analysis.answers import Answer, Figure, FindingResult
from heapwright.artefacts.study_results.runs import StudyDesign

LARGEST = 700.0
"""A logarithm whose number can just be written down."""


def answer(study: Study, frame: pl.DataFrame, design: StudyDesign) -> tuple[FindingResult, ...]:
    """A result for each finding of the study, in its order.

    `frame` is that of `Results.frame`; `study` is at the scale that was run.
    """
    runs = good_runs(frame, design)
    return tuple(
        _answered(finding, Question(runs, design, study.analysis.margin), study.analysis.confidence)
        for finding in study.findings
    )


def good_runs(frame: pl.DataFrame, design: StudyDesign) -> Runs:
    """The measured runs that ended well."""
    good = frame.filter((pl.col("outcome") == "ok") & ~pl.col("warmup"))
    return Runs(good, tuple(factor.name for factor in design.factors))


def _answered(finding: Finding, question: Question, confidence: float) -> FindingResult:
    asked = [list(_asked(rule, question)) for rule in finding.test]
    level = 1 - (1 - confidence) / max(1, sum(map(len, asked)))
    parts = [
        _part(rule, [_figure(each, level) for each in figures])
        for rule, figures in zip(finding.test, asked, strict=True)
    ]
    verdicts = [verdict for verdict, _ in parts]
    verdict = _all(verdicts)
    figures = [figure for _, found in parts for figure in found]
    deciding = [figure for part, found in parts if part == verdict for figure in found]
    return FindingResult(
        id=finding.id,
        words=finding.words,
        source=finding.source,
        verdict=verdict,
        published=finding.published,
        ours="; ".join(said(figure) for figure in figures if figure.value is not None),
        why=_why(verdict, deciding),
        today=finding.today,
        figures=tuple(figures),
    )


def _asked(rule: Rule, question: Question) -> Sequence[Wanted]:
    """The figures of a rule, within the levels that it is limited to."""
    measured = {response.name for response in question.design.responses}
    missing = "" if rule.response in measured else f"{rule.response} was not measured"
    for factor, levels in rule.where.items():
        reasons = [question.absent(factor, level) for level in levels]
        if all(reasons):
            missing = missing or reasons[0]
    if missing:
        return [Wanted(rule.response, Band(), Sample, missing=missing)]
    within = question.within(rule.where)
    missing = _unusable(rule, within.runs)
    if missing:
        return [Wanted(rule.response, Band(), Sample, missing=missing)]
    return list(wanted(rule, within))


def _unusable(rule: Rule, runs: Runs) -> str:
    """Why these runs cannot answer the rule; empty if they can."""
    values = runs.plain(rule.response)["value"]
    if values.is_empty():
        return "there is no good measured run of it"
    if not isinstance(rule, Value) and not (values > 0).all():
        return f"some figures of {rule.response} are not above zero, and so have no ratio"
    return ""


def _figure(asked: Wanted, level: float) -> Figure:
    sample = Sample() if asked.missing else asked.sample()
    band = Band() if asked.band.outside else asked.band
    interval = sample.interval(level)
    back = _exp if asked.logarithm else float
    value = None if sample.mean is None else back(sample.mean)
    low, high = (None, None) if interval is None else (back(interval[0]), back(interval[1]))
    reasons = [asked.missing, *sample.notes]
    if not asked.missing and not len(sample):
        reasons.insert(0, "there are no runs to compare")
    elif len(sample) == 1:
        reasons.insert(0, SOLE_BLOCK)
    if asked.band.outside and asked.band.below is not None:
        reasons.insert(0, f"asked for: more than {100 * (asked.band.below - 1):.3g} % apart")
    return Figure(
        what=asked.what,
        value=value,
        low=low,
        high=high,
        unit=asked.unit,
        above=band.above,
        below=band.below,
        verdict=_judged(low, high, asked.band),
        blocks=len(sample),
        why="; ".join(filter(None, reasons)),
    )


def _exp(value: float) -> float:
    """Of an interval's end; as far as numbers go."""
    return math.exp(min(max(value, -LARGEST), LARGEST))


def _judged(low: float | None, high: float | None, band: Band) -> Answer:
    if low is None or high is None:
        return Answer.UNKNOWN
    under = band.above is not None and high <= band.above
    over = band.below is not None and low >= band.below
    within = (band.above is None or low > band.above) and (band.below is None or high < band.below)
    inside, outside = (Answer.FAILS, Answer.HOLDS) if band.outside else (Answer.HOLDS, Answer.FAILS)
    if under or over:
        return outside
    return inside if within else Answer.UNKNOWN


def _part(rule: Rule, figures: list[Figure]) -> tuple[Answer, list[Figure]]:
    """What one rule comes to, the figure that decides it first."""
    verdicts = [figure.verdict for figure in figures]
    some = isinstance(rule, Influence) and rule.expected
    verdict = _any(verdicts) if some else _all(verdicts)
    return verdict, sorted(figures, key=lambda each: (each.verdict != verdict, -_distance(each)))


def _all(verdicts: Sequence[Answer]) -> Answer:
    if Answer.FAILS in verdicts:
        return Answer.FAILS
    return Answer.UNKNOWN if Answer.UNKNOWN in verdicts or not verdicts else Answer.HOLDS


def _any(verdicts: Sequence[Answer]) -> Answer:
    if Answer.HOLDS in verdicts:
        return Answer.HOLDS
    return Answer.UNKNOWN if Answer.UNKNOWN in verdicts or not verdicts else Answer.FAILS


def _distance(figure: Figure) -> float:
    """How far a ratio is from 1; the order of figures that are equal otherwise."""
    return abs(math.log(figure.value)) if figure.value is not None and figure.value > 0 else 0.0


def _why(verdict: Answer, deciding: Sequence[Figure]) -> str:
    figure = next((each for each in deciding if each.verdict == verdict), None)
    if figure is None:
        return ""
    if figure.value is None:
        return figure.why
    parts = [said(figure) + _asked_for(figure)]
    if verdict is Answer.UNKNOWN and figure.low is not None:
        parts.append("the interval does not tell")
    if figure.why:
        parts.append(figure.why)
    return "; ".join(parts)


def said(figure: Figure) -> str:
    """A figure in words: what it is, how much, between what."""
    text = f"{figure.what} {_number(figure.value)}"
    if figure.unit:
        text += f" {figure.unit}"
    if figure.low is not None:
        text += f" ({_number(figure.low)} to {_number(figure.high)})"
    return text


def _asked_for(figure: Figure) -> str:
    bounds = [
        f"{word} {_number(bound)}"
        for word, bound in (("above", figure.above), ("below", figure.below))
        if bound is not None
    ]
    return f", asked for: {' and '.join(bounds)}" if bounds else ""


def _number(value: float | None) -> str:
    if value is None:
        return "?"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"
