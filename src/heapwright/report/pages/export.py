# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Charts as separate files: SVG and PNG for papers, CSV for other plotting tools.

A picture is made from the same chart as on the page, on white. Its CSV has all rows of the chart.
Where a chart has several tables of rows (points and a line fitted to them), the second is
NAME-2.csv. Cost: some tenths of a second for each chart.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import vl_convert

from heapwright.report.pages.parts import COLUMNS, Spec

WIDTH = 640
PIXELS_PER_POINT = 2.0
LONGEST = 100
"""Limit of a name in characters, because a figure may be named after the levels of many factors."""
Row = Mapping[str, Any]


def export(specs: Mapping[str, Spec], folder: Path) -> list[Path]:
    """Write every chart, and name the files; raises OSError where one cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for name, spec in zip(file_names(specs), specs.values(), strict=True):
        svg = svg_of(spec)
        written += [
            _text(folder / f"{name}.svg", svg),
            _bytes(folder / f"{name}.png", png_of(svg)),
        ]
        for number, rows in enumerate(rows_of(spec), start=1):
            tail = "" if number == 1 else f"-{number}"
            written.append(_text(folder / f"{name}{tail}.csv", csv_of(rows)))
    return written


def file_names(names: Iterable[str]) -> Iterator[str]:
    """Names of charts as names of files: letters, digits and dashes, none of them twice."""
    taken: set[str] = set()
    for name in names:
        plain = re.sub(r"[^\w+]+", "-", name)[:LONGEST].strip("-") or "figure"
        made, number = plain, 1
        while made.lower() in taken:
            number += 1
            made = f"{plain}-{number}"
        taken.add(made.lower())
        yield made


def svg_of(spec: Spec) -> str:
    """The picture at the width of a page's column, on white."""
    return str(vl_convert.vegalite_to_svg({**_at_width(spec), "background": "white"}))


def png_of(svg: str) -> bytes:
    """The same picture in pixels, two for each point."""
    return bytes(vl_convert.svg_to_png(svg, scale=PIXELS_PER_POINT))


def _at_width(spec: Spec) -> Spec:
    return {**spec, "width": WIDTH} if spec.get("width") == "container" else spec


def rows_of(spec: Spec) -> list[Sequence[Row]]:
    """The tables of rows that the chart is drawn from, the largest first."""
    held, meta = spec.get("datasets"), spec.get("usermeta")
    tables: list[Sequence[Row]] = list(held.values()) if isinstance(held, dict) else []
    names = meta.get(COLUMNS, {}) if isinstance(meta, dict) else {}
    named = [
        [{names.get(field, field): value for field, value in row.items()} for row in rows]
        for rows in tables
        if rows
    ]
    return sorted(named, key=_extent, reverse=True)


def _extent(rows: Sequence[Row]) -> tuple[int, int]:
    return len(rows), len(rows[0])


def csv_of(rows: Sequence[Row]) -> str:
    """Rows as CSV; a row that lacks a column leaves it empty."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    stream = StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def _text(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _bytes(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
