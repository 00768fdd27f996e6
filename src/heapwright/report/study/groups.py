# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Homogeneous groups: which levels differ, by Tukey's honest significant difference."""

from html import escape

from heapwright.artefacts.study_analysis.terms import MeanTable, Pair, Section
from heapwright.report.pages.parts import opened, table
from heapwright.report.study.units import crossed, figure, p_text, text_of
from heapwright.report.study.view import Response, StudyView

MOST_ROWS = 120


def groups(view: StudyView) -> str:
    """A part for each response: overall open, each allocator to be opened."""
    return "\n".join(part for each in view.responses if (part := _of_response(each)))


def _of_response(response: Response) -> str:
    overall = response.analysis.overall
    inner = _tables(response, overall) if overall else ""
    alone = [
        opened(each.allocator or "", _tables(response, each))
        for each in response.analysis.allocators
    ]
    more = opened("Each allocator alone", *alone)
    return f"<h3>{escape(response.words)}</h3>{inner}{more}" if inner or more else ""


def _tables(response: Response, section: Section) -> str:
    singles = [each for each in section.means if len(each.factors) == 1 and len(each.rows) > 1]
    single = "".join(f"<div>{_table(response, each)}</div>" for each in singles)
    together = [
        opened(crossed(each.factors), _table(response, each))
        for each in section.means
        if len(each.factors) == 2 and any(row.group for row in each.rows)
    ]
    pairs = _pairs(response, section.pairs) if section.pairs else ""
    parts = (
        f'<div class="tables">{single}</div>' if single else "",
        opened("Two factors together", *together),
        opened("Pair by pair", pairs),
    )
    return "\n".join(part for part in parts if part)


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
