# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of a page: charts in their places, each with its rows as a table and as CSV.

A figure of several small charts is a grid on the page and one picture in a file. `papers` has the
figures for files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from heapwright.report.pages.parts import Charts, Data, Spec, in_figures
from heapwright.report.study.axes import Row, legended

MOST_IN_TABLE = 200
"""Rows that are shown as a table; the CSV has all."""


@dataclass(slots=True)
class Figures(Charts):
    """The charts of the page, and the figures that they make up."""

    papers: dict[str, Spec] = field(default_factory=dict)

    def single(self, name: str, spec: Spec, label: str, rows: Sequence[Row]) -> str:
        """A figure of one chart."""
        self.papers[name] = legended(spec)
        return self.place(name, spec, label) + _below(name, label, rows)

    def grid(
        self,
        name: str,
        specs: Mapping[str, Spec],
        papers: Mapping[str, Spec],
        label: str,
        rows: Sequence[Row],
    ) -> str:
        """A figure of small charts, each below its name; `papers` is what goes into files."""
        self.papers.update(
            {f"{name}/{of}".rstrip("/"): legended(paper) for of, paper in papers.items()}
        )
        cells = []
        for of, spec in specs.items():
            place = self.place(f"{name}/{of}", spec, f"{label}: {of}", kind="")
            caption = f"<figcaption><b>{escape(of)}</b></figcaption>"
            cells.append(f"<figure>{caption}{place}</figure>")
        return '<div class="grid facets">' + "\n".join(cells) + "</div>" + _below(name, label, rows)


def _below(name: str, label: str, rows: Sequence[Row]) -> str:
    """The rows as a table, closed, and a button that saves them."""
    button = f'<button type="button" class="csv" data-csv="{escape(name, quote=True)}">CSV</button>'
    if not rows:
        return f'<div class="below">{button}</div>'
    columns = list(dict.fromkeys(column for row in rows for column in row))
    shown = rows[:MOST_IN_TABLE]
    more = f", the first {len(shown)} of {len(rows):,} rows" if len(shown) < len(rows) else ""
    table = Data(columns, [[cell(row.get(column)) for column in columns] for row in shown])
    return f'<div class="below">{in_figures(table, label + more)}{button}</div>'


def cell(value: Any) -> str:
    """A figure as text for a table."""
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
