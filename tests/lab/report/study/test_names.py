# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A chart draws all of its marks for any names of the factors, levels and responses of a study."""

import json
import re
from types import ModuleType

import pytest
import vl_convert

from heapwright.artefacts.study_analysis.document import ParetoFront, ParetoPoint
from heapwright.report.pages.export import csv_of, rows_of
from heapwright.report.pages.parts import Spec
from heapwright.report.study import charts
from heapwright.report.study.axes import OF_EVERY_OBJECT, OWN, Column, Row, field_of, measure
from heapwright.report.study.growth import front_chart

LEVELS = ("__proto__", "null", "1.5", "a:b", "x[0]")
NAMES = (
    *("count", "sum", "mean", "average", "min", "max", "median", "mode", "stdev", "variance"),
    *("distinct", "valid", "missing", "product", "argmin", "argmax", "q1", "q3", "ci0", "ci1"),
    *("values", "index", "key", "id", "type", "field", "title", "bin", "aggregate", "repeat"),
    *("row", "column", "facet", "data", "datum", "parent", "item", "event", "width", "height"),
    *("x", "y", "x2", "color", "shape", "tooltip", "year", "month", "rank", "window", "stack"),
    *("low", "high", "runs", "cell", "value", "seconds", "memory", "group", "ratio", "verdict"),
    *("a.b", "x[0]", "a:Q", "a:N", "count():Q", "a'b", 'a"b', "a\\b", "a b", "", "(a)", "ä", "#"),
    *("__proto__", "length", "NaN", "undefined", "constructor", "toString"),
    *("_vgsid_", "__count", "count_a", "mean_low", "sum(a)", "datum.low", "column_count"),
)
"""Words of the grammar, signs that it reads, and names that objects have in its language."""
SOME = ("count", "low", "a.b", "x[0]", "a:Q", 'a"b', "datum.low", "__proto__")
Y = measure("time", [1.0, 9.0], logarithmic=False)


def lines_of(spec: Spec) -> int:
    """The lines that a chart draws."""
    svg = str(vl_convert.vegalite_to_svg({**spec, "width": 300}))
    groups = re.findall(r'<g class="mark-line role-mark[^>]*(?<!/)>(.*?)</g>', svg, re.DOTALL)
    return sum(len(re.findall(r'<path[^>]* d="M[^"]*L', group)) for group in groups)


def crossed(x: Column, by: Column) -> list[Row]:
    return [
        {
            x.column: level,
            by.column: other,
            "mean": 2.0 + at + place / 2,
            "low": 1.5 + at,
            "high": 4.0 + at,
            "runs": 5,
        }
        for at, level in enumerate(x.levels)
        for place, other in enumerate(by.levels)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_each_level_has_its_line_whatever_its_factor_is_called(name: str) -> None:
    x, by = Column("threads", ("1", "2", "4"), "threads"), Column(name, LEVELS, name)
    (spec,) = charts.means({"": crossed(x, by)}, x, by, Y).values()
    assert lines_of(spec) == len(LEVELS)


@pytest.mark.parametrize("name", SOME)
def test_each_part_of_a_divided_figure_is_drawn(name: str) -> None:
    x, by = Column("threads", ("1", "2"), "threads"), Column("size", ("a", "b"), "size")
    of = Column(name, LEVELS, name)
    rows = [{of.column: level, **row} for level in of.levels for row in crossed(x, by)]
    assert lines_of(charts.faceted(rows, x, by, of, Y)) == 2 * len(LEVELS)


@pytest.mark.parametrize("name", SOME)
def test_the_axis_may_have_any_name(name: str, browsing: ModuleType) -> None:
    x, by = Column(name, LEVELS, name), Column("threads", ("1", "2"), "threads")
    (spec,) = charts.means({"": crossed(x, by)}, x, by, Y).values()
    assert lines_of(spec) == 2
    assert browsing.marks_of(spec) == 2 * (1 + 2 * len(LEVELS))


@pytest.mark.parametrize("name", SOME)
def test_rankings_runs_and_curves_have_all_marks(name: str, browsing: ModuleType) -> None:
    what = Column(name, LEVELS, name)
    base = [{what.column: level, "mean": 2.0, "low": 1.0, "high": 4.0} for level in LEVELS]
    ranked = [{**row, "over the best": "+1 %", "group": "a"} for row in base]
    assert browsing.marks_of(charts.ranking(ranked, what, Y)) == 2 * len(LEVELS)
    ratios = [{**row, "ratio": 2.0, "cell": "c", "verdict": "worse"} for row in base]
    assert browsing.marks_of(charts.ratios(ratios, what, Y)) == 2 * len(LEVELS)
    ticks = [{what.column: level, "block": 1, "value": 3.0} for level in LEVELS]
    assert browsing.marks_of(charts.strips(ticks, what, Y)) == len(LEVELS)
    curves = [
        {what.column: level, "block": 1, "seconds": 2.0 + at, "memory": 3.0}
        for level in LEVELS
        for at in range(3)
    ]
    assert lines_of(charts.curves(curves, what, Y, Y)) == len(LEVELS)


@pytest.mark.parametrize("name", SOME)
def test_a_response_may_have_any_name(name: str, browsing: ModuleType) -> None:
    points = tuple(
        ParetoPoint(allocator=level, x=2.0 + at, y=3.0, on_front=at < 2)
        for at, level in enumerate(LEVELS)
    )
    front = ParetoFront(x=name, y=f"{name}2", points=points)
    what = Column("allocator", LEVELS, "allocator")
    rows: list[Row] = [
        {what.column: p.allocator, front.x: p.x, front.y: p.y, "on the front": "yes"}
        for p in points
    ]
    assert browsing.marks_of(front_chart(rows, front, what, Y, Y)) == len(LEVELS)


@pytest.mark.parametrize("name", ["plain", *sorted(OF_EVERY_OBJECT)])
def test_a_tooltip_has_each_factor_whatever_it_is_called(name: str) -> None:
    x, by = Column("threads", ("1", "2"), "threads"), Column(name, LEVELS, name)
    (spec,) = charts.means({"": crossed(x, by)}, x, by, Y).values()
    tips = json.dumps(vl_convert.vegalite_to_vega({**spec, "width": 300}))
    shown = name if name == "plain" else f"{name} (name)"
    assert json.dumps(f'"{shown}": isValid(datum[')[1:-1] in tips


def test_the_csv_has_the_names_of_the_study() -> None:
    x, by = Column("a.b", ("1", "2"), "a.b"), Column("count", ("u", "v"), "count")
    (spec,) = charts.means({"": crossed(x, by)}, x, by, Y).values()
    assert csv_of(rows_of(spec)[0]).splitlines()[0] == "a.b,count,mean,low,high,runs"


def test_no_two_columns_share_a_field() -> None:
    fields = {field_of(name) for name in (*NAMES, *OWN)}
    assert len(fields) == len({*NAMES, *OWN})
    assert all(re.fullmatch(r"[A-Za-z_0-9 ]+", field) for field in fields)
