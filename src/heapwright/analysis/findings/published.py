# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Published tables with the measured figures beside them, line by line.

Means are arithmetic, as in the publications. They are over the treatments with the levels of the
line, each counting alike, with an interval by Student's t over the blocks. The percentages of a
ranking are of such means. The analysis of variance and Tukey's groups are those of heapwright's
analysis, which models logarithms and blocks. Kendall's tau-b states the agreement of the published
and the measured order (Kendall 1945).
"""

import math
from collections.abc import Iterable, Sequence

from heapwright.analysis.findings import contrasts
from heapwright.analysis.findings.rules import Question
from heapwright.analysis.findings.sample import Runs, Sample
from heapwright.analysis.numerics.ranks import kendall
from heapwright.artefacts.study.published import (
    TERM,
    VALUES,
    Agreement,
    Cell,
    Line,
    PublishedRow,
    PublishedSource,
    PublishedTable,
)
from heapwright.artefacts.study_analysis.document import StudyAnalysis
from heapwright.base.polars_package import pl

PARTIAL = "partial_eta_sq"
LEAST_RANKED = 3
"""Lines below which an agreement of orders says nothing."""


def beside(
    source: PublishedSource, lines: Sequence[Line], question: Question, analysis: StudyAnalysis
) -> tuple[PublishedTable, ...]:
    """A table for each response of the published one; of a ranking, for each place it is of."""
    return tuple(
        _table(source, group, question, analysis) for group in _grouped(source, lines, analysis)
    )


def _grouped(
    source: PublishedSource, lines: Sequence[Line], analysis: StudyAnalysis
) -> Iterable[list[Line]]:
    groups: dict[tuple[str, ...], list[Line]] = {}
    for line in lines:
        scope = _scope(line, analysis) if source.kind == "ranking" else {}
        groups.setdefault((line.response, *scope.values()), []).append(line)
    return groups.values()


def _scope(line: Line, analysis: StudyAnalysis) -> dict[str, str]:
    """What a line of a ranking is about, without the allocator that it ranks."""
    return {name: level for name, level in line.keys.items() if name != analysis.allocator_factor}


def _table(
    source: PublishedSource, lines: Sequence[Line], question: Question, analysis: StudyAnalysis
) -> PublishedTable:
    response = lines[0].response
    times = float(source.times.get(response, 1))
    if source.kind == "means":
        rows = [_mean(line, question, analysis, times) for line in lines]
    elif source.kind == "anova":
        rows = [_term(line, analysis) for line in lines]
    else:
        rows = _ranking(source, lines, question, analysis)
    rows = [row.model_copy(update={"why": line.why}) for row, line in zip(rows, lines, strict=True)]
    scope = _scope(lines[0], analysis) if source.kind == "ranking" else {}
    extra = (PARTIAL,) if source.kind == "anova" else ()
    return PublishedTable(
        title=", ".join([source.title, *(f"{name} {level}" for name, level in scope.items())]),
        kind=source.kind,
        response=response,
        unit=source.units.get(response, ""),
        source=source.source,
        note=source.note,
        keys=tuple(dict.fromkeys(key for line in lines for key in line.keys)),
        columns=(*(name for name in VALUES[source.kind] if _present(name, rows)), *extra),
        rows=tuple(rows),
        agreement=_agreement(source, rows),
    )


def _present(column: str, rows: Sequence[PublishedRow]) -> bool:
    return any(column in row.published or column in row.ours for row in rows)


def _agreement(source: PublishedSource, rows: Sequence[PublishedRow]) -> Agreement | None:
    column = VALUES[source.kind][0]
    pairs = [(row.published[column], row.ours[column]) for row in rows if column in row.ours]
    if len(pairs) < LEAST_RANKED:
        return None
    tau = kendall(*zip(*pairs, strict=True)).tau
    return Agreement(tau=tau, rows=len(pairs)) if math.isfinite(tau) else None


def _missing(line: Line, question: Question) -> str:
    """Why a line has no measured figure; empty if it has one."""
    if line.response not in {response.name for response in question.design.responses}:
        return f"{line.response} was not measured"
    factors = {factor.name for factor in question.design.factors}
    if strange := sorted(set(line.keys) - factors - {TERM}):
        return f"{', '.join(strange)} is not varied here"
    levels = {name: level for name, level in line.keys.items() if name != TERM}
    return question.any_absent(levels)


def _mean(line: Line, question: Question, analysis: StudyAnalysis, times: float) -> PublishedRow:
    because = _missing(line, question)
    if because:
        return PublishedRow(keys=line.keys, published=line.values, because=because)
    sample = _sample(line, question)
    interval = sample.interval(analysis.settings.confidence)
    low, high = (None, None) if interval is None else interval
    ours: dict[str, Cell] = {}
    if sample.mean is not None:
        ours["mean"] = sample.mean / times
        if "groups" in line.values:
            ours["groups"] = _groups(line, analysis)
    return PublishedRow(
        keys=line.keys,
        published=line.values,
        ours=ours,
        low=None if low is None else low / times,
        high=None if high is None else high / times,
        blocks=len(sample),
        because="; ".join(sample.notes),
    )


def _where(line: Line) -> dict[str, tuple[str]]:
    return {name: (level,) for name, level in line.keys.items()}


def _sample(line: Line, question: Question) -> Sample:
    """The mean of a line; says how many of its treatments have no good run at all."""
    runs = question.runs.at(_where(line))
    found = contrasts.mean(runs, line.response)
    planned = sum(line.keys.items() <= cell.levels.items() for cell in question.design.treatments)
    lost = planned - runs.frame.select(runs.factors).n_unique()
    if lost <= 0:
        return found
    note = f"{lost} of {planned} treatments have no good run and are not in it"
    return Sample(found.blocks, (*found.notes, note))


def _shared(lines: Sequence[Line], question: Question, ranked: str) -> tuple[Runs, str]:
    """The runs in which all ranked allocators can be compared, so a failure in a hard
    combination is no advantage."""
    runs = question.runs
    levels = {line.keys[ranked] for line in lines if ranked in line.keys}
    others = [name for name in runs.factors if name != ranked]
    if not levels or not others:
        return runs, ""
    good = runs.at({ranked: tuple(levels)}).frame
    combinations = good.group_by(others).agg(pl.col(ranked).n_unique().alias("ranked"))
    shared = combinations.filter(pl.col("ranked") == len(levels))
    lost = len(combinations) - len(shared)
    note = f"{lost} combinations left out, in which not all have a good run" if lost else ""
    return Runs(good.join(shared.select(others), on=others, how="semi"), runs.factors), note


def _groups(line: Line, analysis: StudyAnalysis) -> Cell:
    """Tukey's groups of the measured table by the same factors; None if there is no such table."""
    found = analysis.response(line.response)
    levels = dict(line.keys)
    allocator = levels.pop(analysis.allocator_factor or "", None)
    section = None if found is None else found.section(allocator)
    table = None if section is None else section.table(*levels)
    row = None if table is None else table.row(*(levels[name] for name in table.factors))
    return None if row is None or not row.group else row.group


def _term(line: Line, analysis: StudyAnalysis) -> PublishedRow:
    found = analysis.response(line.response)
    allocator = line.keys.get(analysis.allocator_factor or "")
    section = None if found is None else found.section(allocator)
    term = None if section is None else section.term(*line.keys.get(TERM, "").split(":"))
    if term is None or term.f is None:
        because = "not testable here" if term is not None else "there is no such term here"
        return PublishedRow(keys=line.keys, published=line.values, because=because)
    ours: dict[str, Cell] = {"F": term.f, "p": term.p, "sum_sq": term.sum_sq, "df": term.df}
    return PublishedRow(
        keys=line.keys, published=line.values, ours=ours | {PARTIAL: term.partial_eta_sq}
    )


def _ranking(
    source: PublishedSource, lines: Sequence[Line], question: Question, analysis: StudyAnalysis
) -> list[PublishedRow]:
    reasons = [_missing(line, question) for line in lines]
    average = contrasts.mean if source.average == "arithmetic" else contrasts.geometric_mean
    run = [line for line, because in zip(lines, reasons, strict=True) if not because]
    runs, left_out = _shared(run, question, analysis.allocator_factor or "")
    samples = [
        Sample() if because else average(runs.at(_where(line)), line.response)
        for line, because in zip(lines, reasons, strict=True)
    ]
    ranked = [sample for sample in samples if sample.mean is not None]
    if not ranked:
        return [
            PublishedRow(keys=line.keys, published=line.values, because=because)
            for line, because in zip(lines, reasons, strict=True)
        ]
    higher = question.better(lines[0].response) == "higher"
    best = (max if higher else min)(ranked, key=lambda each: each.mean or 0.0)
    confidence = analysis.settings.confidence
    return [
        _ranked(line, because or left_out, _percent(sample, best, higher=higher), confidence)
        for line, because, sample in zip(lines, reasons, samples, strict=True)
    ]


def _percent(sample: Sample, best: Sample, *, higher: bool) -> Sample:
    """How much worse than the best, in percent, block by block."""
    if len(sample) != len(best) or not best.blocks.all() or not sample.blocks.all():
        return Sample()
    worse, better = (best, sample) if higher else (sample, best)
    return Sample(100 * (worse.blocks / better.blocks - 1), sample.notes)


def _ranked(line: Line, because: str, percent: Sample, confidence: float) -> PublishedRow:
    if percent.mean is None:
        return PublishedRow(
            keys=line.keys, published=line.values, because=because or "there is no ratio"
        )
    interval = percent.interval(confidence)
    low, high = (None, None) if interval is None else interval
    return PublishedRow(
        keys=line.keys,
        published=line.values,
        ours={"percent": percent.mean},
        low=low,
        high=high,
        blocks=len(percent),
        because="; ".join(filter(None, (because, *percent.notes))),
    )
