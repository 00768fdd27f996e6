# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of chart that a study's page has, as Vega-Lite over rows that are their CSV.

Every mean has its interval. Small charts of one kind share their scales, so that readers can
compare them. On the page each is a separate chart. In a file they are one figure.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from heapwright.report.pages.parts import Spec
from heapwright.report.pages.vega import BLUE, GREEN, GREY, ORANGE, VERMILION, finished
from heapwright.report.study.axes import (
    Column,
    Measure,
    Row,
    carrying,
    figure_tips,
    named_rows,
    standing,
)

HEIGHT = 130
SMALL = 190
ROW = 20
MEAN = ("mean", "low", "high")
SURE = {"yes": BLUE, "no": ORANGE, "-": GREY}
"""Whether a term is more than chance; the last is chance itself."""
VERDICTS = (("better", GREEN), ("worse", VERMILION), ("not told apart", GREY))


def _means(x: Column, by: Column | None, y: Measure) -> Any:
    """Lines through the means of the levels of `x`, one for each level of `by`, with intervals."""
    base = alt.Chart().encode(x=x.across())
    fixed: dict[str, Any] = {}
    if by is None:
        fixed = {"color": BLUE}
    else:
        base = base.encode(color=by.coloured())
    tips = [x.tip, *([by.tip] if by else []), *figure_tips(*MEAN, "runs")]
    up = alt.Y("mean:Q", scale=y.scale, axis=y.axis())
    return alt.layer(
        base.mark_line(strokeWidth=1.2, clip=True, **fixed).encode(y=up),
        base.mark_rule(strokeWidth=1.6, clip=True, **fixed).encode(
            y=alt.Y("low:Q", scale=y.scale), y2="high:Q"
        ),
        base.mark_point(filled=True, size=22, opacity=1, clip=True, **fixed).encode(
            y=up, tooltip=tips
        ),
        data=named_rows(),
    )


def means(
    parts: Mapping[str, Sequence[Row]], x: Column, by: Column | None, y: Measure
) -> dict[str, Spec]:
    """Small charts that differ in their rows alone."""
    spec = finished(_means(x, by, y), HEIGHT)
    return {name: carrying(spec, rows) for name, rows in parts.items() if rows}


def faceted(rows: Sequence[Row], x: Column, by: Column | None, of: Column, y: Measure) -> Spec:
    """The small charts as one figure, with a legend."""
    drawn = _means(x, by, y)
    if by is not None:
        drawn.layer[0].encoding.color = by.coloured(legend=True)
    columns = min(3, len(of.levels))
    inner = drawn.properties(width=SMALL, height=HEIGHT)
    facet = alt.Facet(field=of.field, type="nominal", sort=list(of.levels), title=None)
    return carrying(standing(inner.facet(facet=facet, columns=columns)), rows)


def ranking(rows: Sequence[Row], what: Column, x: Measure) -> Spec:
    """Means, best first, with their intervals and ratios to the best."""
    order = [row[what.column] for row in rows]
    base = alt.Chart().encode(y=what.down(order))
    across = alt.X("mean:Q", scale=x.scale, axis=x.axis(ticks=6))
    tips = [what.tip, *figure_tips(*MEAN), alt.Tooltip("over the best:N")]
    layers = [
        base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_rule(color=BLUE, strokeWidth=2)
        .encode(x=alt.X("low:Q", scale=x.scale), x2="high:Q"),
        base.mark_point(filled=True, size=60, color=BLUE, opacity=1).encode(x=across, tooltip=tips),
        base.mark_text(align="left", dx=8, dy=-7, fontSize=10).encode(
            x=alt.X("mean:Q", scale=x.scale), text="over the best:N"
        ),
    ]
    return carrying(finished(alt.layer(*layers, data=named_rows()), alt.Step(ROW + 6)), rows)


def ratios(rows: Sequence[Row], what: Column, x: Measure) -> Spec:
    """A ratio to the baseline in each cell of the design as a tick; 1 is the baseline itself."""
    names = [name for name, _ in VERDICTS]
    tips = [what.tip, *figure_tips("ratio", "low", "high"), alt.Tooltip("cell:N")]
    colour = alt.Color(
        "verdict:N",
        title=None,
        scale=alt.Scale(domain=names, range=[shade for _, shade in VERDICTS]),
        legend=None,
    )
    across = alt.X("ratio:Q", scale=x.scale, axis=x.axis(ticks=6))
    layers = [
        alt.Chart().mark_rule(strokeDash=[4, 3], color=GREY).encode(x=alt.XDatum(1, scale=x.scale)),
        alt.Chart()
        .mark_tick(thickness=1.5, size=ROW - 6, opacity=0.8)
        .encode(x=across, y=what.down(), color=colour, tooltip=tips),
    ]
    spec = finished(alt.layer(*layers, data=named_rows()), alt.Step(ROW + 4))
    return carrying(spec, rows)


def shares(rows: Sequence[Row], title: str) -> Spec:
    """Parts of the scatter, the largest first; what may be chance has another colour."""
    order = [row["term"] for row in rows]
    spec = finished(
        alt.Chart(named_rows())
        .mark_bar()
        .encode(
            y=alt.Y("term:N", sort=order, title=None, axis=alt.Axis(labelLimit=180)),
            x=alt.X("share:Q", title=title, axis=alt.Axis(tickCount=5, format="~f")),
            color=alt.Color(
                "significant:N",
                scale=alt.Scale(domain=list(SURE), range=list(SURE.values())),
                legend=None,
            ),
            tooltip=["term:N", *figure_tips("share", "p")],
        ),
        alt.Step(16),
    )
    return carrying(spec, rows)


def strips(rows: Sequence[Row], what: Column, x: Measure) -> Spec:
    """A tick a run."""
    spec = finished(
        alt.Chart(named_rows())
        .mark_tick(thickness=1.5, size=ROW - 6, opacity=0.8, color=BLUE)
        .encode(
            x=alt.X("value:Q", scale=x.scale, axis=x.axis(ticks=5)),
            y=what.down(),
            tooltip=[what.tip, *figure_tips("value"), alt.Tooltip("block:Q")],
        ),
        alt.Step(ROW),
    )
    return carrying(spec, rows)


def curves(rows: Sequence[Row], what: Column, x: Measure, y: Measure) -> Spec:
    """Memory over time, a line an allocator."""
    spec = finished(
        alt.Chart(named_rows())
        .mark_line(strokeWidth=1.4, interpolate="step-after", clip=True)
        .encode(
            x=alt.X("seconds:Q", scale=x.scale, axis=x.axis(grid=False, ticks=5)),
            y=alt.Y("memory:Q", scale=y.scale, axis=y.axis()),
            color=what.coloured(),
            tooltip=[what.tip, *figure_tips("seconds", "memory")],
        ),
        SMALL,
    )
    return carrying(spec, rows)


def normal_plot(rows: Sequence[Row]) -> Spec:
    """Residuals against what normal ones would be: a straight line where they are."""
    points = alt.Chart().mark_point(filled=True, size=16, color=BLUE, opacity=0.9)
    line = alt.Chart().mark_line(color=GREY, strokeDash=[4, 3])
    spec = finished(
        alt.layer(
            line.encode(x="expected:Q", y="expected:Q"),
            points.encode(
                x=alt.X("expected:Q", title="normal quantile", axis=alt.Axis(tickCount=5)),
                y=alt.Y("residual:Q", title="residual / its deviation", axis=alt.Axis(tickCount=5)),
                tooltip=figure_tips("expected", "residual"),
            ),
            data=named_rows(),
        ),
        SMALL,
    )
    return carrying(spec, rows)
