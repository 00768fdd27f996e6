# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of pages as HTML: tables, places for charts, sections with a heading to jump to.

A screen reader speaks the label of a chart. The table that can be opened below it has the figures.
Scrolling parts can be reached and scrolled with the keyboard.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

Spec = dict[str, object]
COLUMNS = "columns"
"""In the `usermeta` of a chart: the headings of its CSV by the names of its fields."""


def table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], name: str = "", label: str = ""
) -> str:
    """A table that scrolls by itself where it is too wide. Cells are HTML already."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in headings)
    lines = "\n".join(
        f'<tr><th scope="row">{row[0]}</th>{"".join(f"<td>{cell}</td>" for cell in row[1:])}</tr>'
        for row in rows
    )
    return scrolling(
        f'<table class="{name}"><thead><tr>{head}</tr></thead>\n<tbody>\n{lines}\n</tbody></table>',
        label or f"Table: {', '.join(headings)}",
    )


def scrolling(inner: str, label: str) -> str:
    """A part that may be wider than the page. The keyboard can reach and scroll it."""
    named = escape(label, quote=True)
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{named}">{inner}</div>'


def section(name: str, heading: str, *parts: str) -> str:
    """A part of the page that its table of contents leads to."""
    inner = "\n".join(part for part in parts if part)
    return (
        f'<section id="{name}" aria-labelledby="{name}-heading">\n'
        f'<h2 id="{name}-heading">{escape(heading)}</h2>\n{inner}\n</section>'
    )


def opened(summary: str, *parts: str, printed: bool = False) -> str:
    """A part that is closed at first, or nothing. A `printed` part is open on paper."""
    inner = "\n".join(part for part in parts if part)
    if not inner:
        return ""
    kind = "more print" if printed else "more"
    return f'<details class="{kind}"><summary>{escape(summary)}</summary>{inner}</details>'


def beside(*parts: str) -> str:
    """Parts beside one another where there is room, else one below the other."""
    shown = [part for part in parts if part]
    inner = "\n".join(f"<div>{part}</div>" for part in shown)
    return f'<div class="beside">\n{inner}\n</div>' if len(shown) > 1 else "".join(shown)


def contents(entries: Sequence[tuple[str, str]]) -> str:
    """The table of contents: names and headings of sections."""
    links = "\n".join(f'<li><a href="#{name}">{escape(text)}</a></li>' for name, text in entries)
    return f'<nav class="contents" aria-label="On this page"><ul>\n{links}\n</ul></nav>'


def key(entries: Sequence[tuple[str, str]], *, of_charts: bool = True) -> str:
    """The legend of colours. Charts use lighter ones in the dark style."""
    keys = " ".join(
        f'<span class="key" style="--c:{colour}"'
        + (f' data-colour="{colour}"' if of_charts else "")
        + f">{escape(text)}</span>"
        for text, colour in entries
    )
    return f"<p>{keys}</p>"


@dataclass(frozen=True, slots=True)
class Data:
    """The figures of a chart as a table; cells are text."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(slots=True)
class Charts:
    """The charts of a page, by the names of the places where they stand."""

    specs: dict[str, Spec] = field(default_factory=dict)

    def place(
        self, name: str, spec: Spec, label: str, data: Data | None = None, kind: str = "wide"
    ) -> str:
        """Keep a chart and return the place where it will be drawn."""
        self.specs[name] = spec
        shown = escape(name, quote=True)
        return (
            f'<div class="chart {kind}" data-chart="{shown}" role="img" '
            f'aria-label="{escape(label, quote=True)}"></div>'
            + ("" if data is None else in_figures(data, label))
        )


def in_figures(data: Data, label: str) -> str:
    """The table below a chart, closed at first."""
    rows = [[escape(cell) for cell in row] for row in data.rows]
    inner = table(data.headings, rows, "figures", f"{label}, in figures")
    return f'<details class="data"><summary>in figures</summary>{inner}</details>'
