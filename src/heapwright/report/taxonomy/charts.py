# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The curves of the taxonomy as Vega-Lite: a small chart an allocator, all of a kind on one scale.

A chart is as wide as its container. Colour is the judgement, not the allocator: there are more
allocators than distinct colours, and the chart is there to show the judgement. Points are measured,
lines are fitted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import altair as alt

from heapwright.artefacts.taxonomy.document import Criteria, Curve, Estimate, Row, Taxonomy
from heapwright.report.pages.parts import Spec
from heapwright.report.pages.vega import finished

MIB = float(1 << 20)
MOST_POINTS = 120
HEIGHT = 110
COLOURS = {"none": "#0072b2", "linear": "#e69f00", "unbounded": "#d55e00"}
UNJUDGED = "#777777"
KINDS = {
    "hand_overs": ("hand-overs", "#cc79a7"),
    "lock_waits": ("lock waits", "#e69f00"),
    "lock_takes": ("lock takes", "#0072b2"),
    "atomic_operations": ("atomic operations", "#56b4e9"),
    "shared_lines": ("lines shared", "#009e73"),
    "locked_instructions": ("locked instructions", "#56b4e9"),
    "shared_metadata_lines": ("lines shared", "#009e73"),
    "writes_to_shared_lines": ("writes to shared lines", "#d55e00"),
}
"""What is counted, in words, and its colour."""


def over_time(rows: Sequence[Row]) -> dict[str, Spec]:
    """Memory against what was allocated so far, by allocator."""
    shown = [(row, _thinned(row.growth.over_time)) for row in rows]
    top = max((y for _, curve in shown for y in curve.y), default=0.0) / MIB
    axes = _Axes(("allocated so far (MiB)", "memory (MiB)"), (MIB, MIB), top)
    return {row.allocator: _curve(curve, row.blowup, axes, 12) for row, curve in shown if curve.x}


def over_threads(rows: Sequence[Row]) -> dict[str, Spec]:
    """Memory against threads, in what the program needs, by allocator."""
    top = max((y for row in rows for y in row.growth.over_threads.y), default=0.0)
    axes = _Axes(("threads", "memory / need"), (1, 1), top)
    return {
        row.allocator: _curve(row.growth.over_threads, row.blowup, axes, 40)
        for row in rows
        if row.growth.over_threads.x
    }


def speed(rows: Sequence[Row], criteria: Criteria) -> Spec | None:
    """Time and instructions per operation as ratios to the limit."""
    return _ranking(
        {row.allocator: row.speed.time for row in rows},
        "per operation, in what a bump pointer needs",
        criteria.fast,
        {row.allocator: row.speed.instructions for row in rows},
        logarithmic=True,
    )


def speedup(document: Taxonomy) -> Spec | None:
    """Operations per second at the most threads over those at one."""
    most = document.plan.threads[-1] if document.plan.threads else 0
    return _ranking(
        {row.allocator: row.scaling.speedup for row in document.rows},
        f"speedup at {most} threads",
        document.criteria.efficiency * most,
        {},
    )


def counts(rows: Sequence[Row]) -> dict[str, Spec]:
    """What was counted per thousand operations, by threads, for those that were counted so."""
    return {row.allocator: spec for row in rows if (spec := _counts(row)) is not None}


def _thinned(curve: Curve) -> Curve:
    step = -(-len(curve.x) // MOST_POINTS) or 1
    return curve.model_copy(update={"x": curve.x[::step], "y": curve.y[::step]})


@dataclass(frozen=True, slots=True)
class _Axes:
    """What a kind of curve is drawn on: titles, what a unit is, the highest value of all."""

    titles: tuple[str, str]
    units: tuple[float, float]
    top: float


def _curve(curve: Curve, judgement: str | None, axes: _Axes, size: int) -> Spec:
    across, up = axes.units
    colour = COLOURS.get(judgement or "", UNJUDGED)
    x = alt.X("x:Q", title=axes.titles[0], axis=alt.Axis(tickCount=4, grid=False))
    scale = alt.Scale(domain=[0, max(axes.top, 1e-9)], nice=True)
    y = alt.Y("y:Q", title=axes.titles[1], scale=scale, axis=alt.Axis(tickCount=4))
    measured = [{"x": a / across, "y": b / up} for a, b in zip(curve.x, curve.y, strict=True)]
    fitted = [{"x": a / across, "y": b / up} for a, b in curve.fitted]
    tips = [
        alt.Tooltip("x:Q", title=axes.titles[0], format=".4~g"),
        alt.Tooltip("y:Q", title=axes.titles[1], format=".3~g"),
    ]
    layers: list[alt.Chart] = []
    for values, mark in (
        (measured, alt.MarkDef(type="point", filled=True, size=size, color=colour, opacity=0.8)),
        (fitted, alt.MarkDef(type="line", color="#888888", strokeWidth=1.5)),
    ):
        if values:
            base = alt.Chart(alt.InlineData(values=values), mark=mark)
            layers.append(base.encode(x=x, y=y, tooltip=tips))
    return finished(alt.layer(*layers), HEIGHT)


def _ranking(
    estimates: dict[str, Estimate | None],
    title: str,
    limit: float,
    others: dict[str, float | None],
    *,
    logarithmic: bool = False,
) -> Spec | None:
    """Estimates with their intervals, best first; hollow points are instructions."""
    known = {name: each for name, each in estimates.items() if each is not None}
    if not known:
        return None
    order = sorted(known, key=lambda name: known[name].value, reverse=not logarithmic)
    values = [
        {
            "allocator": name,
            "value": each.value,
            "low": each.value if each.low is None else each.low,
            "high": each.value if each.high is None else each.high,
            "instructions": others.get(name),
        }
        for name, each in known.items()
    ]
    scale = alt.Scale(zero=True, nice=True)
    if logarithmic:
        highest = max([limit, *(value["high"] for value in values)])  # type: ignore[type-var]
        scale = alt.Scale(type="log", domain=[1, highest], nice=False, clamp=True)
    y = alt.Y("allocator:N", sort=order, title=None, axis=alt.Axis(labelLimit=140))
    x = alt.X("value:Q", title=title, scale=scale, axis=alt.Axis(tickCount=6, format="~g"))
    tips = [
        alt.Tooltip("allocator:N"),
        *(alt.Tooltip(f"{name}:Q", format=".3~g") for name in ("value", "low", "high")),
        *([alt.Tooltip("instructions:Q", format=".3~g")] if others else []),
    ]
    base = alt.Chart(alt.InlineData(values=values))
    layers = [
        alt.Chart(alt.InlineData(values=[{"limit": limit}]))
        .mark_rule(strokeDash=[4, 3], color="#888888")
        .encode(x="limit:Q"),
        base.mark_rule(color="#0072b2", strokeWidth=2).encode(y=y, x=alt.X("low:Q"), x2="high:Q"),
        base.mark_point(filled=True, size=60, color="#0072b2").encode(y=y, x=x, tooltip=tips),
    ]
    if any(others.get(name) is not None for name in known):
        hollow = base.transform_filter("isValid(datum.instructions)").mark_point(
            filled=False, size=50, color="#d55e00", shape="diamond"
        )
        layers.append(hollow.encode(y=y, x=alt.X("instructions:Q"), tooltip=tips))
    return finished(alt.layer(*layers), alt.Step(20))


def _counts(row: Row) -> Spec | None:
    """The mean over the workloads, for each number of threads."""
    values = list(_count_points(row))
    if not values:
        return None
    names = list(dict.fromkeys(str(value["kind"]) for value in values))
    colours = [colour for name, colour in dict(KINDS.values()).items() if name in names]
    order = [name for name, _ in KINDS.values() if name in names]
    order = list(dict.fromkeys(order))
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X(
            "threads:Q",
            title="threads",
            scale=alt.Scale(type="log", base=2, domain=[1, 64], nice=False),
            axis=alt.Axis(values=[1, 4, 16, 64], format="d", grid=False),
        ),
        y=alt.Y(
            "count:Q",
            title="per 1,000 operations",
            scale=alt.Scale(type="symlog", constant=1, domain=[0, 20000], nice=False),
            axis=alt.Axis(values=[0, 1, 10, 100, 1000, 10000], format="~g"),
        ),
        color=alt.Color(
            "kind:N",
            title=None,
            scale=alt.Scale(domain=order, range=colours),
            legend=None,
        ),
        tooltip=["kind:N", "threads:Q", alt.Tooltip("count:Q", format=".3~g")],
    )
    return finished(alt.layer(base.mark_line(), base.mark_point(filled=True, size=30)), HEIGHT)


def _count_points(row: Row) -> Iterator[dict[str, object]]:
    totals: dict[tuple[str, int], list[float]] = {}
    for each in row.scaling.counts:
        for name, value in each.per_thousand.items():
            if name in KINDS:
                totals.setdefault((KINDS[name][0], each.threads), []).append(max(value, 0.0))
    for (kind, threads), values in sorted(totals.items(), key=lambda item: item[0]):
        yield {"kind": kind, "threads": threads, "count": sum(values) / len(values)}
