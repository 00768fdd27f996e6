# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A study's results as a page in Markdown: how they were made, findings, rankings, tables.

It concludes nothing: every figure and every verdict is in the analysis. The section Conclusions is
written by hand, and a new page keeps it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from heapwright.artefacts.run.provenance import Environment
from heapwright.artefacts.study.acceptance import AcceptanceTable
from heapwright.artefacts.study.published import Cell, PublishedTable
from heapwright.artefacts.study.sensitivity import SensitivityTable
from heapwright.artefacts.study.substitution import SubstitutionTable
from heapwright.artefacts.study_analysis.document import Ranking, StudyAnalysis
from heapwright.report.study.failures import FAILURE_HEADINGS, failure_rows
from heapwright.report.study.head import doubts
from heapwright.report.study.view import StudyView
from heapwright.report.study_acceptance import (
    BAR_HEADINGS,
    bar_cells,
    bar_explained,
    bar_heading,
    bar_said,
    place_text,
    ratio_text,
    worst_by_place,
)
from heapwright.report.study_sensitivity import (
    care_cells,
    care_counted,
    care_explained,
    care_heading,
    care_headings,
)
from heapwright.report.study_substitution import (
    choice_about,
    choice_cells,
    choice_explained,
    choice_heading,
    choice_headings,
)

MOST_ROWS = 40
"""Of a table of means; longer ones are in the page that `heapwright report` makes."""


CONCLUSIONS = re.compile(r"^## Conclusions\b.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def conclusions_of(page: str) -> str:
    """The hand-written section of an earlier page; empty if it has none."""
    found = CONCLUSIONS.search(page)
    return found[0].strip() if found else ""


def page(view: StudyView, conclusions: str = "") -> str:
    """The whole page."""
    parts = [*_head(view), conclusions, *_questions(view.analysis)]
    if rows := failure_rows(view):
        parts += ["## Failed runs", _table(FAILURE_HEADINGS, rows)]
    parts += [*_rankings(view.analysis), *_published(view.analysis)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _head(view: StudyView) -> Iterator[str]:
    """How the results were made, and what to know before a figure is believed."""
    study = view.analysis.study
    yield f"# {study.name}"
    yield study.title if study.title.endswith("?") else f"{study.title}."
    yield _commands(view.analysis)
    yield _circumstances(view)
    if known := list(dict.fromkeys(doubts(view))):
        yield "## To be known first"
        yield "\n".join(f"- {line.rstrip('.')}." for line in known)


def _questions(analysis: StudyAnalysis) -> Iterator[str]:
    """The answers to what the study asks."""
    if analysis.bar is not None:
        yield f"## {bar_heading(analysis.bar)}"
        yield from _bar(analysis.bar)
    if analysis.findings:
        yield "## Does it hold?"
        yield _findings(analysis)
    if analysis.choice is not None and analysis.choice.rows:
        yield f"## {choice_heading(analysis.choice)}"
        yield from _choice(analysis.choice)
    if analysis.care is not None and analysis.care.rows:
        yield f"## {care_heading(analysis.care)}"
        yield from _care(analysis.care)


def _rankings(analysis: StudyAnalysis) -> Iterator[str]:
    for response in analysis.responses:
        ranking = response.ranking()
        if ranking is not None and response.better != "none":
            title = f"## Ranking by {response.name}"
            yield title + (f", {response.unit}" if response.unit else "")
            yield _ranking(ranking)


def _published(analysis: StudyAnalysis) -> Iterator[str]:
    for table in analysis.published:
        heading = f"## {table.title}, {table.response}: published and here"
        if table.kind == "ranking":
            yield heading
            yield _beside(table)
        elif table.kind == "means" and len(table.rows) <= MOST_ROWS:
            yield heading
            yield _means(table)


def _commands(analysis: StudyAnalysis) -> str:
    study = analysis.study
    scale = f" --scale {study.scale}" if study.scale else ""
    return "\n".join(
        [
            "```sh",
            f"heapwright study run {study.name}{scale} --seed {study.seed} -o results",
            "heapwright report results -o README.md",
            "```",
        ]
    )


def _circumstances(view: StudyView) -> str:
    design, frame = view.design, view.frame
    good = frame.filter(~frame["warmup"] & (frame["outcome"] == "ok"))
    said = [
        f"{len(frame):,} runs of {len(design.treatments):,} treatments in "
        f"{good['block'].n_unique()} measured blocks, {len(good):,} of them good and measured; "
        f"the study's SHA-256 begins with {design.sha256[:12]}."
    ]
    said += [_machine(each) for each in view.hosts.values()]
    return "\n".join(said)


def _machine(host: Environment) -> str:
    memory = f"{host.memory_bytes >> 30} GiB" if host.memory_bytes else "memory unknown"
    return (
        f"{host.cpu}, {host.cpus} processors, {memory}, {host.kernel.split('-')[0]}, {host.libc}; "
        f"{host.date[:10]}, heapwright {host.heapwright}."
    )


def _findings(analysis: StudyAnalysis) -> str:
    rows = [
        (each.verdict.value, each.words, each.published or "-", each.why or each.ours)
        for each in analysis.findings
    ]
    return _table(("here", "claim", "published", "the figure that decides"), rows)


def _bar(found: AcceptanceTable) -> Iterator[str]:
    yield f"{bar_said(found)} {bar_explained(found)}"
    yield _table(BAR_HEADINGS, [bar_cells(line) for line in found.lines])
    for line in found.lines:
        places = worst_by_place(line)
        shown = places if len(places) > 1 else line.figures
        if shown:
            yield f"**{line.words}** ({line.response}, {line.asked}):"
            yield _table(
                ("rival", "ratio", "blocks"),
                [
                    (
                        place_text(each.rival, each.scope),
                        ratio_text(each.ratio, each.low, each.high),
                        f"{each.blocks:,}",
                    )
                    for each in shown
                ],
            )
    said = dict.fromkeys(line.why for line in found.lines if line.why)
    if said:
        yield "\n".join(f"- {words}." for words in said)


def _choice(found: SubstitutionTable) -> Iterator[str]:
    yield choice_explained(found)
    if found.about:
        about = [(row.level, *choice_about(row, found), row.overall.value) for row in found.rows]
        yield _table((found.by, *found.about, "verdict"), about)
    rows = [(row.level, *choice_cells(row.responses), row.overall.value) for row in found.rows]
    yield _table((found.by, *choice_headings(found), "verdict"), rows)


def _care(found: SensitivityTable) -> Iterator[str]:
    yield f"{care_counted(found)} {care_explained(found)}"
    yield _table(care_headings(found), [care_cells(row, found, bold="**") for row in found.rows])


def _ranking(ranking: Ranking) -> str:
    rows = [
        (
            entry.allocator,
            f"{entry.mean:.4g}",
            "-" if entry.percent_over_best is None else f"{entry.percent_over_best:.3g} %",
            entry.group,
        )
        for entry in ranking.entries
    ]
    return _table(("allocator", "mean", "over the best", "group"), rows)


def _beside(table: PublishedTable) -> str:
    column = table.columns[0]
    rows = [
        (
            *(row.keys.get(key, "") for key in table.keys),
            _cell(row.published.get(column)),
            _cell(row.ours.get(column)) if row.ours else row.because,
        )
        for row in table.rows
    ]
    lines = [_table((*table.keys, f"published {table.unit}", "here"), rows)]
    if table.agreement is not None:
        lines.append(f"Kendall's tau-b of the two orders: {table.agreement.tau:.2f}.")
    return "\n\n".join(lines)


def _means(table: PublishedTable) -> str:
    """Each published mean beside the measured one, and both relative to the first. The units of
    the publication differ."""
    first = next((row for row in table.rows if row.ours), None)
    if first is None:
        return f"{table.rows[0].because}."
    rows = []
    for row in table.rows:
        one, other = _first(row.published), _first(row.ours)
        base, our_base = _first(first.published), _first(first.ours)
        rows.append(
            (
                *(row.keys.get(key, "") for key in table.keys),
                _cell(one),
                _ratio(one, base),
                _cell(other) if row.ours else row.because,
                "-" if row.low is None else f"{_cell(row.low)} to {_cell(row.high)}",
                _ratio(other, our_base),
            )
        )
    unit = f", {table.unit}" if table.unit else ""
    heads = (*table.keys, f"published{unit}", "to the first", f"here{unit}", "interval")
    lines = [_table((*heads, "to the first"), rows)]
    if table.agreement is not None:
        lines.append(f"Kendall's tau-b of the two orders: {table.agreement.tau:.2f}.")
    return "\n\n".join(lines)


def _first(values: Mapping[str, Cell]) -> Cell:
    return next(iter(values.values()), None)


def _ratio(value: Cell, base: Cell) -> str:
    if not isinstance(value, float) or not isinstance(base, float) or not base:
        return "-"
    return f"{value / base:.3f}"


def _cell(value: Cell) -> str:
    return f"{value:.4g}" if isinstance(value, float | int) else value or "-"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def lines() -> Iterator[str]:
        yield f"| {' | '.join(heads)} |"
        yield "|" + "---|" * len(heads)
        for row in rows:
            yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"

    return "\n".join(lines())
