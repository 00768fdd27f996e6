# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Growth, trade-off and agreement: exponents, the Pareto front, rankings against each other."""

from html import escape

import altair as alt

from heapwright.artefacts.study_analysis.document import Exponent, ParetoFront, RankedBy
from heapwright.report.pages.parts import Spec, key, table
from heapwright.report.pages.vega import finished
from heapwright.report.profile.words import share
from heapwright.report.study.axes import (
    Column,
    Measure,
    Row,
    carrying,
    field_of,
    figure_tips,
    measure,
    named_rows,
)
from heapwright.report.study.charts import SMALL
from heapwright.report.study.figures import Figures
from heapwright.report.study.units import p_text
from heapwright.report.study.view import StudyView

BENDS = 0.05


def growth(view: StudyView) -> str:
    """Exponents, where a factor is a quantity."""
    parts = []
    for response in view.responses:
        found = response.analysis.exponents
        if found:
            parts.append(f"<h3>{escape(response.words)}</h3>")
            headings = ("by", "allocator", "exponent", "levels", "explained", "straight")
            parts.append(table(headings, [_exponent(each) for each in found], "figures"))
    if not parts:
        return ""
    about = (
        "<p>The exponent of a quantity is 1 if twice as much costs twice as much. It is less "
        "than 1 if it costs less, and 0 if it has no effect.</p>"
    )
    return "\n".join((about, *parts))


def _exponent(each: Exponent) -> list[str]:
    interval = (
        "" if each.low is None or each.high is None else f" ({each.low:.2f} to {each.high:.2f})"
    )
    bend = each.bend_p
    straight = "-" if bend is None else f"bends (p {p_text(bend)})" if bend < BENDS else "yes"
    return [
        escape(each.by),
        escape(each.allocator or "all"),
        f"{each.exponent:.2f}{interval}",
        escape(f"{each.levels[0]} to {each.levels[-1]}" if each.levels else "-"),
        share(each.explained),
        escape(straight),
    ]


def trade_off(view: StudyView, figures: Figures) -> str:
    """Two responses against each other."""
    return "\n".join(_front(view, front, figures) for front in view.analysis.pareto if front.points)


def _front(view: StudyView, front: ParetoFront, figures: Figures) -> str:
    x, y = view.response(front.x), view.response(front.y)
    what = view.allocators
    if x is None or y is None or what is None:
        return ""
    rows: list[Row] = [
        {
            what.column: point.allocator,
            front.x: x.unit.drawn(point.x),
            front.y: y.unit.drawn(point.y),
            "on the front": "yes" if point.on_front else "no",
        }
        for point in front.points
    ]
    across = measure(x.title, [row[front.x] for row in rows], logarithmic=x.logarithmic)
    up = measure(y.title, [row[front.y] for row in rows], logarithmic=y.logarithmic)
    label = f"{x.words} against {y.words}"
    left = f" Left out: {escape(', '.join(front.left_out))}." if front.left_out else ""
    best = escape(", ".join(front.front))
    return (
        f"<h3>{escape(x.words)} against {escape(y.words)}</h3>"
        f"<p>Nothing is better in both than what is on the front: <b>{best}</b> (dots).{left}</p>"
        + key(what.key)
        + figures.single(
            f"{front.x}-{front.y}", front_chart(rows, front, what, across, up), label, rows
        )
    )


def front_chart(
    rows: list[Row], front: ParetoFront, what: Column, across: Measure, up: Measure
) -> Spec:
    """A dot is on the front, a cross is not."""
    spec = finished(
        alt.Chart(named_rows())
        .mark_point(size=80, strokeWidth=2, opacity=1)
        .encode(
            x=alt.X(
                field=field_of(front.x),
                type="quantitative",
                scale=across.scale,
                axis=across.axis(),
            ),
            y=alt.Y(field=field_of(front.y), type="quantitative", scale=up.scale, axis=up.axis()),
            color=what.coloured(),
            fill=what.coloured(),
            shape=alt.Shape(
                "on the front:N",
                scale=alt.Scale(domain=["yes", "no"], range=["circle", "M-1,-1L1,1M-1,1L1,-1"]),
                legend=None,
            ),
            tooltip=[what.tip, *figure_tips(front.x, front.y)],
        ),
        SMALL,
    )
    return carrying(spec, rows)


def agreement(view: StudyView) -> str:
    """Kendall's tau of pairs of rankings."""
    rows = [
        [
            escape(_ranked(each.one)),
            escape(_ranked(each.other)),
            f"{each.tau:.2f}"
            + (
                ""
                if each.low is None or each.high is None
                else f" ({each.low:.2f} to {each.high:.2f})"
            ),
            p_text(each.p),
            str(each.allocators),
        ]
        for each in view.analysis.agreements
    ]
    if not rows:
        return ""
    about = "<p>Kendall's τ: 1 is the same order, 0 none in common, -1 the opposite.</p>"
    return about + table(("ranking", "and ranking", "τ", "p", "allocators"), rows, "figures")


def _ranked(by: RankedBy) -> str:
    where = ", ".join(f"{factor} {level}" for factor, level in by.scope.items())
    return f"{by.response}, {where}" if where else by.response
