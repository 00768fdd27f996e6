# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Charts become files: a picture that shows something, and the rows that it is drawn from."""

import csv
from pathlib import Path

import altair as alt
import pytest

from heapwright.report.pages.export import csv_of, export, file_names, svg_of
from heapwright.report.pages.parts import Spec
from heapwright.report.pages.vega import finished

ROWS = [{"x": 1, "y": 2.5}, {"x": 2, "y": None}, {"x": 3, "y": 4.0, "of": 'a "b", c'}]


def chart(rows: list[dict[str, object]]) -> Spec:
    points = alt.Chart(alt.InlineData(values=rows)).mark_point().encode(x="x:Q", y="y:Q")
    return finished(points, 100)


def test_each_chart_becomes_three_files(tmp_path: Path) -> None:
    written = export({"time/by threads": chart(ROWS)}, tmp_path / "deep" / "figures")
    assert [path.name for path in written] == [
        f"time-by-threads.{x}" for x in ("svg", "png", "csv")
    ]
    svg, png, table = written
    assert svg.read_text("utf-8").count('aria-roledescription="point"') == 2
    assert png.read_bytes().startswith(b"\x89PNG")
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0] == {"x": "1", "y": "2.5", "of": ""}
    assert rows[2] == {"x": "3", "y": "4.0", "of": 'a "b", c'}


def test_a_picture_is_as_wide_as_a_column_and_on_white(tmp_path: Path) -> None:
    (png,) = (path for path in export({"c": chart(ROWS)}, tmp_path) if path.suffix == ".png")
    image = pytest.importorskip("PIL.Image")
    with image.open(png) as picture:
        assert picture.width > 2 * 600
        assert picture.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
        colours = picture.convert("RGB").getcolors(1 << 20)
    assert any(max(rgb) - min(rgb) > 40 for _, rgb in colours), "something is drawn"


def test_names_of_files_are_never_alike() -> None:
    names = ["a/b", "a b", "a-b", "A.B", "///", "größe \u00d7 2"]
    assert list(file_names(names)) == ["a-b", "a-b-2", "a-b-3", "A-B-4", "figure", "größe-2"]


def test_a_name_of_many_levels_is_cut_and_stays_its_own() -> None:
    names = [f"time/runs/{'level ' * 90}{last}" for last in (1, 2)]
    made = list(file_names(names))
    assert len(set(made)) == 2
    assert all(len(name) < 110 for name in made)


def test_a_chart_without_rows_has_no_table(tmp_path: Path) -> None:
    assert {path.suffix for path in export({"c": chart([])}, tmp_path)} == {".svg", ".png"}
    assert "svg" in svg_of(chart([]))


def test_columns_are_those_of_all_rows() -> None:
    assert csv_of([{"a": 1}, {"b": "x,y"}]) == 'a,b\n1,\n,"x,y"\n'
