# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The charts of a search: the front, the race, and the value of each step."""

from collections.abc import Sequence

import altair as alt

from heapwright.artefacts.tailoring.costs import FAULT, costs, counts_decide
from heapwright.artefacts.tailoring.document import Candidate, Ratio, StepValue, Tailoring
from heapwright.report.pages.parts import Spec
from heapwright.report.pages.vega import BLUE, GREY, ORANGE, VERMILION, finished
from heapwright.report.profile.words import unit_for

HEIGHT = 300
ROW = 34
"""Pixels of a row with several marks."""
Row = dict[str, object]


def front(measured: Sequence[Candidate]) -> Spec:
    """What stands for the time, as the search compares it, over peak memory; a line joins the
    front."""
    replays = {each.name: each for each in measured}
    cost, counted = costs(replays), counts_decide(replays)
    scale, unit = unit_for(max(each.peak_bytes or 0 for each in measured))
    values: list[Row] = [
        {
            "name": each.name,
            "x": cost[each.name] / 1e6 if counted else cost[each.name],
            "y": (each.peak_bytes or 0) / scale,
            "kind": "finalist" if not each.left else "front" if each.front else "other",
        }
        for each in measured
    ]
    title = "processor time (s)"
    if counted:
        title = f"instructions and {FAULT:,} for each page fault (million)"
    x = alt.X("x:Q", title=title, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5))
    y = alt.Y("y:Q", title=f"peak memory ({unit})", scale=alt.Scale(zero=False))
    data = alt.InlineData(values=values)
    colour = alt.Color(
        "kind:N",
        title=None,
        scale=alt.Scale(domain=["finalist", "front", "other"], range=[VERMILION, BLUE, GREY]),
        legend=alt.Legend(orient="top", columns=3),
    )
    joined = [row for row, each in zip(values, measured, strict=True) if each.front]
    line = (
        alt.Chart(alt.InlineData(values=sorted(joined, key=lambda row: str(row["name"]))))
        .mark_line(color=GREY, strokeDash=[4, 3], aria=False)
        .encode(x=x, y=y, order=alt.Order("y:Q"))
    )
    points = (
        alt.Chart(data)
        .mark_point(filled=True, size=70)
        .encode(x=x, y=y, color=colour, tooltip=[alt.Tooltip("name:N")])
    )
    names = (
        alt.Chart(alt.InlineData(values=joined))
        .mark_text(align="left", dx=7, dy=-5, fontSize=9)
        .encode(x=x, y=y, text="name:N")
    )
    return finished(line + points + names, HEIGHT)


def race(document: Tailoring) -> Spec:
    """Time and memory of each allocator beside glibc, with their intervals."""
    values: list[Row] = []
    for name, (time, memory) in document.raced.items():
        for figure, found in (("time", time), ("peak memory", memory)):
            if found is not None:
                values.append({"name": name, "figure": figure, **_percent(found)})
    order = sorted(
        {str(row["name"]) for row in values},
        key=lambda name: min(float(str(row["x"])) for row in values if row["name"] == name),
    )
    y = alt.Y("name:N", title=None, sort=order, axis=alt.Axis(labelLimit=130))
    offset = alt.YOffset("figure:N", sort=["time", "peak memory"])
    colour = alt.Color(
        "figure:N",
        title=None,
        scale=alt.Scale(domain=["time", "peak memory"], range=[BLUE, ORANGE]),
        legend=alt.Legend(orient="top", columns=2),
    )
    x = alt.X("x:Q", title="change from glibc (%)", axis=alt.Axis(tickCount=5))
    base = alt.Chart(alt.InlineData(values=values))
    points = base.mark_point(filled=True, size=50).encode(x=x, y=y, yOffset=offset, color=colour)
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q"), x2="high:Q", y=y, yOffset=offset, color=colour
    )
    return finished(bars + points, ROW * max(1, len(order)))


def _percent(found: Ratio) -> Row:
    low = found.ratio if found.low is None else found.low
    high = found.ratio if found.high is None else found.high
    return {
        "x": 100 * (found.ratio - 1),
        "low": 100 * (low - 1),
        "high": 100 * (high - 1),
    }


def step_rows(document: Tailoring) -> list[dict[str, str | float]]:
    """For each step and figure, the change in % if it is undone."""
    whole = document.replayed(document.winner)
    if whole is None:
        return []
    rows: list[dict[str, str | float]] = []
    for each in document.steps:
        for figure, with_it, without in _pairs(whole, each):
            if with_it and without is not None:
                change = 100 * (without / with_it - 1)
                label = f"{each.step}: {each.instead}"
                rows.append({"step": label, "figure": figure, "change": change})
    return rows


def _pairs(whole: Candidate, step: StepValue) -> list[tuple[str, float | None, float | None]]:
    counted = whole.instructions is not None and step.instructions is not None
    time: tuple[str, float | None, float | None] = ("time", whole.seconds, step.seconds)
    if counted:
        time = ("instructions", whole.instructions, step.instructions)
    return [
        time,
        ("page faults", whole.faults, step.faults),
        ("peak memory", whole.peak_bytes, step.peak_bytes),
    ]


def steps(rows: Sequence[dict[str, str | float]]) -> Spec:
    """A bar for each step and figure."""
    figures = list(dict.fromkeys(str(row["figure"]) for row in rows))
    names = list(dict.fromkeys(str(row["step"]) for row in rows))
    colours = dict(
        zip(
            ("instructions", "time", "page faults", "peak memory"),
            (BLUE, BLUE, GREY, ORANGE),
            strict=True,
        )
    )
    chart = (
        alt.Chart(alt.InlineData(values=list(rows)))
        .mark_bar()
        .encode(
            x=alt.X(
                "change:Q",
                title="change without it (%)",
                scale=alt.Scale(type="symlog", constant=5),
                axis=alt.Axis(tickCount=5),
            ),
            y=alt.Y("step:N", title=None, sort=names, axis=alt.Axis(labelLimit=150)),
            yOffset=alt.YOffset("figure:N", sort=figures),
            color=alt.Color(
                "figure:N",
                title=None,
                scale=alt.Scale(domain=figures, range=[colours[each] for each in figures]),
                legend=alt.Legend(orient="top", columns=2),
            ),
            tooltip=[alt.Tooltip("step:N"), alt.Tooltip("figure:N"), alt.Tooltip("change:Q")],
        )
    )
    return finished(chart, 48 * max(1, len(names)))
