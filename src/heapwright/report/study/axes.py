# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The axes of a study's charts: columns by any name, and shared scales.

A chart's rows are its CSV, so their columns are called as the study calls its factors. The drawing
library gets a generated name instead. It reads dots and brackets as paths. It also computes columns
such as `count`, which hide a column of the same name. `field_of` makes these names, and nothing
else does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from heapwright.report.pages.parts import COLUMNS, Spec
from heapwright.report.pages.vega import spec_of
from heapwright.report.study.colours import shades

Row = dict[str, Any]
OWN = {
    *("mean", "low", "high", "runs", "over the best", "group", "cell", "ratio", "verdict"),
    *("block", "value", "seconds", "memory", "on the front", "term", "share", "p", "significant"),
    *("expected", "residual"),
}
"""Columns of rows that are no factors. Charts read them by these names."""
OF_EVERY_OBJECT = {
    *("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "valueOf"),
    *("toLocaleString", "toString", "__proto__", "__defineGetter__", "__defineSetter__"),
    *("__lookupGetter__", "__lookupSetter__"),
}
LOGARITHMIC_FROM = 4.0
"""The highest over the lowest from which a scale is logarithmic, where the analysis is."""


@dataclass(frozen=True, slots=True)
class Column:
    """A factor as charts have it: its levels in their order."""

    name: str
    levels: tuple[str, ...]
    title: str
    ordered: bool = False

    @property
    def column(self) -> str:
        """What it is called in rows: its name, unless rows have a column of their own of it."""
        return f"{self.name} (factor)" if self.name in OWN else self.name

    @property
    def field(self) -> str:
        return field_of(self.column)

    def across(self, **more: Any) -> alt.X:
        """The levels side by side."""
        return alt.X(
            field=self.field,
            type="ordinal",
            sort=list(self.levels),
            scale=alt.Scale(type="point", domain=list(self.levels), padding=0.4),
            axis=alt.Axis(title=self.title, labelAngle=0, labelOverlap=True, grid=False),
            **more,
        )

    def down(self, levels: Sequence[str] | None = None) -> alt.Y:
        """The levels one below the other, in an order of their own if there is one."""
        return alt.Y(
            field=self.field,
            type="nominal",
            sort=list(self.levels if levels is None else levels),
            axis=alt.Axis(title=None, labelLimit=150),
        )

    def coloured(self, *, legend: bool = False) -> alt.Color:
        return alt.Color(
            field=self.field,
            type="nominal",
            title=self.title,
            scale=alt.Scale(domain=list(self.levels), range=self.shades),
            sort=list(self.levels),
            legend=alt.Legend(orient="top", columns=4) if legend else None,
        )

    @property
    def shades(self) -> list[str]:
        return shades(self.levels, ordered=self.ordered)

    @property
    def key(self) -> list[tuple[str, str]]:
        """What the colours mean."""
        return list(zip(self.levels, self.shades, strict=True))

    @property
    def tip(self) -> alt.Tooltip:
        return alt.Tooltip(field=self.field, type="nominal", title=tip_title(self.title))


@dataclass(frozen=True, slots=True)
class Measure:
    """A scale for values: its title, and a domain that all charts of a kind share."""

    title: str
    domain: tuple[float, float]
    logarithmic: bool

    @property
    def scale(self) -> alt.Scale:
        kind: Any = "log" if self.logarithmic else "linear"
        return alt.Scale(type=kind, domain=list(self.domain), nice=False, zero=False, clamp=True)

    def axis(self, *, grid: bool = True, ticks: int = 4) -> alt.Axis:
        values: Any = list(decades(*self.domain)) if self.logarithmic else alt.Undefined
        return alt.Axis(
            title=self.title, tickCount=ticks, values=values, format=self.format, grid=grid
        )

    @property
    def format(self) -> str:
        """Plain figures, but for the very large and the very small."""
        return "~f" if 1e-3 <= self.domain[1] < 1e5 else "~s"


def measure(
    title: str, values: Iterable[float | None], *, logarithmic: bool, zero: bool = False
) -> Measure:
    """The scale on which all of the values have room."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if logarithmic and low > 0 and high >= LOGARITHMIC_FROM * low:
        room = (high / low) ** 0.04
        return Measure(title, (low / room, high * room), logarithmic=True)
    room = 0.05 * ((high - low) or abs(high) or 1.0)
    bottom = min(low, 0.0) if zero else low - room
    return Measure(title, (bottom, high + room), logarithmic=False)


def evenly(count: int, most: int) -> list[int]:
    """Places in a row of `count`: all, or `most` of them, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return [round(at * (count - 1) / (most - 1)) for at in range(most)]


def decades(low: float, high: float) -> Iterator[float]:
    """Ticks of a logarithmic scale: 1, 2 and 5 of each power of ten, or 1 alone if it has many."""
    steps = (1, 2, 5) if high < 1000 * low else (1,)
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        for step in steps:
            tick = float(f"{step}e{power}")
            if low <= tick <= high:
                yield tick


def field_of(column: str) -> str:
    """The name under which the drawing library gets a column: letters, digits and underscores."""
    if column in OWN:
        return column
    return "column_" + "".join(
        sign if sign.isascii() and sign.isalnum() else f"_{ord(sign):x}_" for sign in column
    )


def figure_tips(*names: str, unit: str = "") -> list[alt.Tooltip]:
    tail = f" ({unit})" if unit else ""
    return [
        alt.Tooltip(
            field=field_of(name), type="quantitative", title=tip_title(name + tail), format=".4~g"
        )
        for name in names
    ]


def tip_title(title: str) -> str:
    """The title in a tooltip. Titles are keys of an object of the drawing library, which omits
    keys that every object has."""
    return f"{title} (name)" if title in OF_EVERY_OBJECT else title


def named_rows() -> alt.NamedData:
    """The rows of a chart, which `carrying` adds: the drawing library would check each of them."""
    return alt.NamedData("rows")


def carrying(spec: Spec, rows: Sequence[Row]) -> Spec:
    """A chart with its rows, and the names that its columns have in a CSV file."""
    fields = {column: field_of(column) for row in rows for column in row}
    drawn = [{fields[column]: value for column, value in row.items()} for row in rows]
    columns = {field: column for column, field in fields.items()}
    return {**spec, "datasets": {"rows": drawn}, "usermeta": {COLUMNS: columns}}


def legended(chart: Any) -> Any:
    """A chart for a file: there is no key beside it, so its colours have their legend inside."""
    if isinstance(chart, list):
        return [legended(part) for part in chart]
    if not isinstance(chart, dict):
        return chart
    shown = {name: part if name == "datasets" else legended(part) for name, part in chart.items()}
    colour = shown.get("color")
    if isinstance(colour, dict) and "legend" in colour and colour["legend"] is None:
        shown["color"] = {**colour, "legend": {"orient": "top", "columns": 4}}
    return shown


def standing(chart: alt.FacetChart | alt.LayerChart | alt.Chart) -> Spec:
    """A chart of a width of its own, for files."""
    whole = (
        chart.configure_view(stroke=None)
        .configure_axis(labelFontSize=10, titleFontSize=10, titleFontWeight="normal")
        .configure(font="system-ui, sans-serif")
    )
    return spec_of(whole)
