# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether each published finding of a study holds in its runs.

Every figure has an interval that is simultaneous over the figures of its finding (Bonferroni). The
intervals of m figures have the confidence 1 - a/m each, so that all of them together have 1 - a. A
figure holds if its whole interval lies where the rule says, and does not if all of it lies
elsewhere. A finding holds if all its figures hold. It is refuted if one of them does not hold.
Otherwise it is undecided. For the influence of a factor, one pair of levels is enough, and all
pairs are needed to refute it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from heapwright.analysis.findings.engine import Region, estimate, every, judge, needed, some
from heapwright.analysis.findings.rules import Question, Wanted, wanted
from heapwright.analysis.findings.sample import Runs, Sample
from heapwright.artefacts.study.finding import Finding, Influence, Rule, Value
from heapwright.artefacts.study.model import Study
from heapwright.artefacts.study_analysis.answers import Answer, Figure, FindingResult
from heapwright.artefacts.study_results.runs import StudyDesign
from heapwright.base.blocks_needed import blocks_text
from heapwright.base.polars_package import pl


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
    verdict = every(verdicts)
    figures = [figure for _, found in parts for figure in found]
    deciding = [figure for part, found in parts if part == verdict for figure in found]
    more = None
    if verdict is Answer.UNKNOWN:
        more = _together(
            _part_needed(rule, found)
            for rule, (part, found) in zip(finding.test, parts, strict=True)
            if part is Answer.UNKNOWN
        )
    return FindingResult(
        id=finding.id,
        words=finding.words,
        source=finding.source,
        verdict=verdict,
        published=finding.published,
        ours="; ".join(said(figure) for figure in figures if figure.value is not None),
        why=_why(verdict, deciding, more),
        needed=more,
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
        return [Wanted(rule.response, Region(), Sample, missing=missing)]
    within = question.within(rule.where)
    missing = _unusable(rule, within.runs)
    if missing:
        return [Wanted(rule.response, Region(), Sample, missing=missing)]
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
    found = estimate(sample, level, logarithm=asked.logarithm)
    region = Region() if asked.region.outside else asked.region
    reasons = [asked.missing, *found.notes]
    if not asked.missing and not len(sample):
        reasons.insert(0, "there are no runs to compare")
    if asked.region.outside and asked.region.below is not None:
        reasons.insert(0, f"required: more than {100 * (asked.region.below - 1):.3g} % apart")
    return Figure(
        what=asked.what,
        value=found.value,
        low=found.low,
        high=found.high,
        unit=asked.unit,
        above=region.above,
        below=region.below,
        verdict=judge(found.interval, asked.region),
        blocks=found.blocks,
        needed=needed(found, asked.region, logarithm=asked.logarithm),
        why="; ".join(filter(None, reasons)),
    )


def _part(rule: Rule, figures: list[Figure]) -> tuple[Answer, list[Figure]]:
    """The result of one rule, with the deciding figure first."""
    verdicts = [figure.verdict for figure in figures]
    any_pair = isinstance(rule, Influence) and rule.expected
    verdict = some(verdicts) if any_pair else every(verdicts)
    return verdict, sorted(figures, key=lambda each: (each.verdict != verdict, -_distance(each)))


def _part_needed(rule: Rule, figures: Sequence[Figure]) -> int | None:
    """The blocks that would decide an undecided rule; None: more blocks would not."""
    undecided = [figure for figure in figures if figure.verdict is Answer.UNKNOWN]
    if isinstance(rule, Influence) and rule.expected:
        return min((each.needed for each in undecided if each.needed is not None), default=None)
    return _together(figure.needed for figure in undecided)


def _together(needed: Iterable[int | None]) -> int | None:
    """The most of all; None if there is one that blocks do not decide."""
    found = list(needed)
    known = [each for each in found if each is not None]
    return max(known) if known and len(known) == len(found) else None


def _distance(figure: Figure) -> float:
    """How far a ratio is from 1; the order of figures that are equal otherwise."""
    return abs(math.log(figure.value)) if figure.value is not None and figure.value > 0 else 0.0


def _why(verdict: Answer, deciding: Sequence[Figure], more: int | None) -> str:
    figure = next((each for each in deciding if each.verdict == verdict), None)
    if figure is None:
        return ""
    if figure.value is None:
        return figure.why
    parts = [said(figure) + _asked_for(figure)]
    if verdict is Answer.UNKNOWN and figure.low is not None:
        parts.append("the interval does not tell")
    if more is not None:
        parts.append(f"{blocks_text(more)} would decide it if the figures stay")
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
