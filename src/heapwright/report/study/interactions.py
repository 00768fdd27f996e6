# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How factors act together: lines through means with their intervals, a small chart an allocator.

The study selects the figures (`[analysis] facets`: the axis, the lines, what divides the figure).
Otherwise each pair of factors whose interaction explains most of the scatter, three at most, is
divided by allocator. Lines that are not parallel are an interaction.
"""

from collections.abc import Sequence
from html import escape
from itertools import combinations

from heapwright.report.pages.parts import key
from heapwright.report.study import charts
from heapwright.report.study.axes import Column, Measure, Row, measure
from heapwright.report.study.figures import Figures
from heapwright.report.study.units import crossed
from heapwright.report.study.view import Response, StudyView

MOST_PAIRS = 3
Facet = tuple[Column, Column | None, Column | None]
"""The axis, the lines, what divides the figure."""


def interactions(view: StudyView, figures: Figures) -> str:
    """A part for each response."""
    return "\n".join(part for each in view.responses if (part := _of_response(each, figures)))


def _of_response(response: Response, figures: Figures) -> str:
    view = response.view
    shown = [_one_at_a_time(response, figures)]
    shown += [_together(response, facet, figures) for facet in facets_of(view, response)]
    inner = "\n".join(part for part in shown if part)
    return f"<h3>{escape(response.words)}</h3>\n{inner}" if inner else ""


def _one_at_a_time(response: Response, figures: Figures) -> str:
    """Each factor by itself, a line an allocator."""
    view = response.view
    by = view.allocators
    tables = {x.name: response.means(*([by.name] if by else []), x.name) for x in view.others}
    tables = {name: rows for name, rows in tables.items() if rows}
    if not tables:
        return ""
    y = _scale(response, [row for rows in tables.values() for row in rows])
    specs = {
        name: spec
        for name, rows in tables.items()
        for spec in charts.means({name: rows}, view.columns[name], by, y).values()
    }
    label = f"{response.words} by each factor"
    whole = figures.grid(
        f"{response.name}/by-factor",
        specs,
        specs,
        label,
        [row for rows in tables.values() for row in rows],
    )
    legend = key(by.key) if by else ""
    return f"<p>{_one_factor_words(response)}</p>\n{legend}\n{whole}"


def _one_factor_words(response: Response) -> str:
    kind = "geometric means" if response.logarithmic else "means"
    return (
        f"Each factor by itself: {kind} over all levels of the others, with "
        f"{response.view.analysis.settings.confidence * 100:.4g} % bars."
    )


def _together(response: Response, facet: Facet, figures: Figures) -> str:
    x, by, of = facet
    names = [each.name for each in facet if each is not None]
    rows = response.means(*names)
    if not rows:
        return ""
    y = _scale(response, rows)
    title = crossed(each.title for each in (x, by) if each is not None)
    name = f"{response.name}/" + "-".join(names)
    label = f"{response.words}, {title}"
    told = f"<h4>{escape(title)}{escape(f', by {of.title}') if of else ''}</h4>"
    legend = key([(f"{by.name} {level}", shade) for level, shade in by.key]) if by else ""
    if of is None:
        chart = charts.means({name: rows}, x, by, y)[name]
        return "\n".join((told, legend, figures.single(name, chart, label, rows)))
    parts = {level: [row for row in rows if row[of.column] == level] for level in of.levels}
    specs = charts.means(parts, x, by, y)
    paper = {"": charts.faceted(rows, x, by, of, y)}
    return "\n".join((told, legend, figures.grid(name, specs, paper, label, rows)))


def _scale(response: Response, rows: Sequence[Row]) -> Measure:
    ends = [row[end] for row in rows for end in ("mean", "low", "high")]
    return measure(response.title, ends, logarithmic=response.logarithmic)


def facets_of(view: StudyView, response: Response) -> list[Facet]:
    """What the study asks for, else what says most."""
    asked = view.design.options.get("facets")
    if isinstance(asked, list) and asked:
        return [found for words in asked if (found := _asked(view, words)) is not None]
    if len(view.others) < 2:
        return []
    pairs = sorted(combinations(view.others, 2), key=lambda pair: -_explained(response, *pair))[
        :MOST_PAIRS
    ]
    return [(*_longer_first(*pair), view.allocators) for pair in pairs]


def _asked(view: StudyView, words: object) -> Facet | None:
    """A facet of the study file; two words are divided by allocator, if neither is that."""
    if not isinstance(words, list):
        return None
    found = [view.columns[name] for name in words if name in view.columns]
    if len(found) != len(words) or len(found) < 2:
        return None
    mine = view.allocators
    of = found[2] if len(found) > 2 else None if mine in found else mine
    return found[0], found[1], of


def _explained(response: Response, one: Column, other: Column) -> float:
    overall = response.analysis.overall
    term = overall.term(one.name, other.name) if overall else None
    return (term.eta_sq or 0.0) if term else 0.0


def _longer_first(one: Column, other: Column) -> tuple[Column, Column]:
    """The factor with more levels is the axis."""
    return (one, other) if len(one.levels) >= len(other.levels) else (other, one)
