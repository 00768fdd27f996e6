# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Homogeneous groups: which levels differ, by Tukey's honest significant difference."""

from html import escape

from heapwright.artefacts.study_terms import MeanTable, Pair, Section
from heapwright.report.pages.parts import table
from heapwright.report.study.units import crossed, figure, p_text, text_of
from heapwright.report.study.view import Response, StudyView

MOST_ROWS = 120


def groups(view: StudyView) -> str:
    """A part for each response: overall open, each allocator to be opened."""
    return "\n".join(part for each in view.responses if (part := _of_response(each)))


def _of_response(response: Response) -> str:
    overall = response.analysis.overall
    inner = _tables(response, overall) if overall else ""
    more = "".join(
        f'<details class="more"><summary>{escape(each.allocator or "")} alone</summary>'
        f"{_tables(response, each)}</details>"
        for each in response.analysis.allocators
        if _tables(response, each)
    )
    return f"<h3>{escape(response.words)}</h3>{inner}{more}" if inner or more else ""


def _tables(response: Response, section: Section) -> str:
    singles = [each for each in section.means if len(each.factors) == 1 and len(each.rows) > 1]
    pairs = [each for each in section.means if len(each.factors) == 2]
    single = "".join(f"<div>{_table(response, each)}</div>" for each in singles)
    parts = [f'<div class="tables">{single}</div>'] if single else []
    parts += [
        f'<details class="more"><summary>{escape(crossed(each.factors))}</summary>'
        f"{_table(response, each)}</details>"
        for each in pairs
        if any(row.group for row in each.rows)
    ]
    if section.pairs:
        parts.append(
            '<details class="more"><summary>Pair by pair</summary>'
            f"{_pairs(response, section.pairs)}</details>"
        )
    return "\n".join(parts)


def _table(response: Response, means: MeanTable) -> str:
    rows = sorted(means.rows, key=lambda row: row.mean)[:MOST_ROWS]
    left = len(means.rows) - len(rows)
    lines = [
        [
            escape(", ".join(row.levels)),
            escape(text_of(response.measured, row.mean)),
            escape(
                "-"
                if row.low is None or row.high is None
                else f"{text_of(response.measured, row.low)} to "
                f"{text_of(response.measured, row.high)}"
            ),
            escape(row.group or "-"),
            f"{row.runs:,}",
        ]
        for row in rows
    ]
    more = f'<p class="dim">{left} more are in the document.</p>' if left else ""
    note = f'<p class="dim">{escape(means.note)}</p>' if means.note else ""
    headings = (crossed(means.factors), "mean", "interval", "group", "runs")
    return table(headings, lines, "figures") + note + more


def _pairs(response: Response, pairs: tuple[Pair, ...]) -> str:
    kind = "ratio" if response.logarithmic else "difference"
    lines = [
        [
            escape(f"{pair.factor}: {pair.one} to {pair.other}"),
            _figure(pair.difference),
            "-"
            if pair.low is None or pair.high is None
            else f"{_figure(pair.low)} to {_figure(pair.high)}",
            p_text(pair.p),
        ]
        for pair in pairs[:MOST_ROWS]
    ]
    left = len(pairs) - len(lines)
    more = f'<p class="dim">{left} more are in the document.</p>' if left else ""
    return table(("pair", kind, "interval", "p"), lines, "figures") + more


def _figure(value: float) -> str:
    return f"{value:.3f}" if 0.1 <= abs(value) < 10 else figure(value)
