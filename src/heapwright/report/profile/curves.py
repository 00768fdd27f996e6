# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Curves and bars of one profile or of two, on the same axes.

One profile is drawn in blue; of two, the first is orange and the second blue. Curves are steps: a
figure holds until the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt

from heapwright.artefacts.profile.document import Profile
from heapwright.report.pages.parts import Spec
from heapwright.report.pages.vega import BLUE, ORANGE, VERMILION, finished

HEIGHT = 220
BAR = 11
MOST_LABELS = 8
LONGEST_MARK = 90
"""Of a label on a chart, in pixels."""

Value = dict[str, Any]
Form = Literal["line", "filled", "stacked"]


@dataclass(frozen=True, slots=True)
class Named:
    """A profile under the name that it is shown by."""

    name: str
    profile: Profile


Series = Sequence[Named]


@dataclass(frozen=True, slots=True)
class Axis:
    title: str
    format: str = "~s"
    logarithmic: bool = False
    domain: tuple[float, float] | None = None
    marks: tuple[tuple[float, str], ...] = ()
    """Places with their names, at which a line is drawn."""

    @property
    def scale(self) -> alt.Scale:
        domain: Any = alt.Undefined if self.domain is None else list(self.domain)
        if self.logarithmic:
            return alt.Scale(type="log", nice=False, domain=domain)
        return alt.Scale(nice=self.domain is None, domain=domain)

    def tip(self, channel: str) -> alt.Tooltip:
        return alt.Tooltip(f"{channel}:Q", title=self.title, format=".4~g")


def points(series: Series, values: Callable[[Profile], Iterable[Value]]) -> list[Value]:
    """The values of all profiles, each with the name of its own."""
    return [{"of": each.name, **value} for each in series for value in values(each.profile)]


def colours(series: Series) -> alt.Color:
    """Which profile a mark is of; a legend only where there are several."""
    return palette(
        [each.name for each in series], [ORANGE, BLUE][-len(series) :], legend=len(series) > 1
    )


def palette(names: Sequence[str], shades: Sequence[str], *, legend: bool = True) -> alt.Color:
    """Given names in given colours."""
    return alt.Color(
        "of:N",
        title=None,
        scale=alt.Scale(domain=list(names), range=list(shades)),
        legend=alt.Legend(orient="top", columns=3) if legend else None,
    )


def steps(
    values: Sequence[Value],
    colour: alt.Color,
    x: Axis,
    y: Axis,
    *,
    form: Form = "line",
) -> Spec:
    """Lines through `x` and `y` of each `of`; a gap where `y` is null.

    Areas may be stacked: then each value says `at` which place from the bottom.
    """
    base = alt.Chart(alt.InlineData(values=list(values)))
    style: Value = {"interpolate": "step-after", "clip": True, "aria": False}
    drawn = (
        base.mark_line(strokeWidth=1.5, **style)
        if form == "line"
        else base.mark_area(line={"strokeWidth": 1.5}, fillOpacity=0.2, **style)
        if form == "filled"
        else base.mark_area(fillOpacity=0.8, **style).encode(order="at:Q")
    )
    across = alt.X(
        "x:Q",
        title=x.title,
        scale=x.scale,
        axis=alt.Axis(tickCount=5, format=x.format, grid=False),
    )
    curves = drawn.encode(
        x=across,
        y=alt.Y(
            "y:Q",
            title=y.title,
            scale=y.scale,
            axis=alt.Axis(tickCount=5, format=y.format),
            stack="zero" if form == "stacked" else None,
        ),
        color=colour,
        tooltip=["of:N", x.tip("x"), y.tip("y")],
    )
    if not x.marks:
        return finished(curves, HEIGHT)
    named = alt.Chart(alt.InlineData(values=[{"x": at, "name": name} for at, name in x.marks]))
    tip = [alt.Tooltip("name:N", title="mark"), x.tip("x")]
    rules = named.mark_rule(color=VERMILION, strokeDash=[4, 3], aria=False).encode(
        x=across, tooltip=tip
    )
    labels = named.mark_text(
        align="left", baseline="top", dx=3, fontSize=10, limit=LONGEST_MARK, aria=False
    ).encode(x=across, y=alt.value(0), text="name:N")
    layers = (curves, rules, labels) if len(x.marks) <= MOST_LABELS else (curves, rules)
    return finished(alt.layer(*layers), HEIGHT)


def bars(
    values: Sequence[Value], colour: alt.Color, title: str, order: Sequence[str], groups: int
) -> Spec:
    """Lying bars of shares, `y` in per cent, grouped by `of`, in the order of their names `x`."""
    return finished(
        alt.Chart(alt.InlineData(values=list(values)))
        .mark_bar(aria=False)
        .encode(
            y=alt.Y("x:N", sort=list(order), title=None, axis=alt.Axis(labelLimit=120)),
            x=alt.X("y:Q", title=title, axis=alt.Axis(tickCount=5, format="~f")),
            color=colour,
            tooltip=["of:N", "x:N", alt.Tooltip("y:Q", title=title, format=".3~g")],
            yOffset=alt.Undefined if groups == 1 else alt.YOffset("of:N", sort=None),
        ),
        alt.Step(BAR if groups > 1 else 2 * BAR),
    )


def columns(
    values: Sequence[Value], colour: alt.Color, titles: tuple[str, str], order: Sequence[str]
) -> Spec:
    """Standing bars side by side by `of`, in the order of their names `x`."""
    return finished(
        alt.Chart(alt.InlineData(values=list(values)))
        .mark_bar(aria=False)
        .encode(
            x=alt.X(
                "x:N",
                sort=list(order),
                title=titles[0],
                axis=alt.Axis(labelAngle=-45, labelOverlap=True),
            ),
            xOffset=alt.XOffset("of:N", sort=None),
            y=alt.Y("y:Q", title=titles[1], axis=alt.Axis(tickCount=5, format="~f")),
            color=colour,
            tooltip=["of:N", "x:N", alt.Tooltip("y:Q", title=titles[1], format=".3~g")],
        ),
        HEIGHT,
    )
