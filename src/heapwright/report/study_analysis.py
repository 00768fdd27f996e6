# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The analysis of a study as text: the verdict first, then each response, then what to beware of.

The page that `heapwright report` draws has all of it; here is what fits a terminal.
"""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from heapwright.artefacts.study_analysis.document import Ranking, ResponseAnalysis, StudyAnalysis
from heapwright.artefacts.study_analysis.terms import AnovaTerm, Section
from heapwright.report.columns import Columns
from heapwright.report.profile.words import NOTHING, digits, duration, memory
from heapwright.report.study_acceptance import print_bar
from heapwright.report.study_sensitivity import print_care
from heapwright.report.study_substitution import print_choice

FEWEST_TESTED = 0.0005
"""Terms that explain less of the total than this, and are not significant, are not shown."""


def print_verdict(console: Console, analysis: StudyAnalysis) -> None:
    """One sentence or two."""
    console.print(Text(analysis.verdict.text))


def print_analysis(console: Console, analysis: StudyAnalysis) -> None:
    """Everything that fits."""
    console.print(Text(_headline(analysis)))
    console.print(Text(analysis.verdict.text, style="bold"))
    for response in analysis.responses:
        console.print()
        _print_response(console, analysis, response)
    _print_list(console, "Agreement of rankings", list(_agreements(analysis)))
    _print_list(console, "Findings", list(_findings(analysis)))
    if analysis.choice is not None and analysis.choice.rows:
        console.print()
        print_choice(console, analysis.choice)
    if analysis.care is not None and analysis.care.rows:
        console.print()
        print_care(console, analysis.care)
    if analysis.bar is not None:
        console.print()
        print_bar(console, analysis.bar)
    _print_list(console, "Notes", list(analysis.notes))


def _headline(analysis: StudyAnalysis) -> str:
    study = analysis.study
    scale = f" at scale {study.scale}" if study.scale else ""
    said = (
        f"{study.name}{scale}: {study.ok:,} good runs of {study.treatments:,} treatments in "
        f"{study.blocks:,} {'block' if study.blocks == 1 else 'blocks'}"
    )
    bad = sum(count for outcome, count in analysis.outcomes.items() if outcome != "ok")
    said += f", {bad:,} that failed" if bad else ""
    return f"{said}, {study.warmup:,} discarded" if study.warmup else said


def _print_response(console: Console, analysis: StudyAnalysis, response: ResponseAnalysis) -> None:
    simulated = ", simulated" if response.simulated else ""
    console.print(Text(f"{response.name}{simulated}", style="bold"))
    overall = response.overall
    if response.rankings:
        console.print(_ranking(analysis, response, response.rankings[0]))
    if overall is not None and overall.anova:
        console.print()
        console.print(_anova(overall))
    for line in [*_exponents(response), *_beware(response)]:
        console.print(Text(f"- {line}"))


def _ranking(analysis: StudyAnalysis, response: ResponseAnalysis, ranking: Ranking) -> Columns:
    base = f"to {analysis.baseline}" if analysis.baseline else "ratio"
    rows = [
        (
            entry.allocator,
            value_text(response.unit, entry.mean),
            NOTHING if entry.percent_over_best is None else f"{entry.percent_over_best:.1f} %",
            entry.group or NOTHING,
            _ratio(entry.ratio, entry.low, entry.high),
            f"{entry.runs:,}",
            f"{entry.failed:,}" if entry.failed else "",
        )
        for entry in ranking.entries
    ]
    headings = ("ranking", "mean", "over best", "group", base, "runs", "failed")
    shown = 7 if any(entry.failed for entry in ranking.entries) else 6
    return Columns(headings[:shown], [row[:shown] for row in rows])


def _anova(section: Section) -> Columns:
    rows = [
        (
            term.term,
            f"{term.df:,}",
            NOTHING if term.f is None else digits(term.f),
            p_text(term.p),
            NOTHING if term.eta_sq is None else f"{term.eta_sq:.2%}",
            p_text(term.rank_p),
        )
        for term in section.anova
        if _shown(term)
    ]
    kind = "" if section.sums == "sequential" else " (type 2)"
    return Columns((f"variance{kind}", "df", "F", "p", "of all", "p by ranks"), rows)


def _shown(term: AnovaTerm) -> bool:
    return (
        term.kind != "factors"
        or term.p is None
        or term.p < 0.05
        or (term.eta_sq or 0.0) >= FEWEST_TESTED
    )


def _exponents(response: ResponseAnalysis) -> Iterator[str]:
    for each in response.exponents:
        if each.allocator is None:
            bounds = _bounds(each.low, each.high)
            yield f"grows with {each.by} to the power of {each.exponent:.2f}{bounds}"


def _beware(response: ResponseAnalysis) -> Iterator[str]:
    """Warnings and notes, each once."""
    yield from response.notes
    if response.overall is not None:
        yield from response.overall.diagnostics.warnings
        yield from response.overall.notes


def _agreements(analysis: StudyAnalysis) -> Iterator[str]:
    for each in analysis.agreements:
        one, other = (
            " ".join([side.response, *(f"at {factor} {at}" for factor, at in side.scope.items())])
            for side in (each.one, each.other)
        )
        yield f"{one} and {other}: tau {each.tau:.2f}{_bounds(each.low, each.high)}"


def _findings(analysis: StudyAnalysis) -> Iterator[str]:
    for each in analysis.findings:
        yield f"{each.verdict}: {each.words}"


def _print_list(console: Console, title: str, lines: Sequence[str]) -> None:
    if not lines:
        return
    console.print()
    console.print(Text(title, style="bold"))
    for line in lines:
        console.print(Text(f"- {line}"))


def value_text(unit: str, value: float) -> str:
    """`3.2 ms`, `14 MiB`, `1,240 1/s`."""
    if unit == "s" and value >= 0:
        return duration(value)
    if unit in ("B", "bytes") and value >= 0:
        return memory(value)
    return f"{digits(value)} {unit}".rstrip()


def p_text(value: float | None) -> str:
    """`< 0.0001`, `0.034`."""
    if value is None:
        return NOTHING
    return "< 0.0001" if value < 0.0001 else f"{value:.2g}" if value < 0.1 else f"{value:.2f}"


def _ratio(ratio: float | None, low: float | None, high: float | None) -> str:
    return NOTHING if ratio is None else f"{ratio:.3f}{_bounds(low, high, 3)}"


def _bounds(low: float | None, high: float | None, places: int = 2) -> str:
    if low is None or high is None or low == high:
        return ""
    return f" ({low:.{places}f} to {high:.{places}f})"
