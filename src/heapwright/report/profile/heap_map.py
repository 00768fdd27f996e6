# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The heap map: address space over time, with its holes.

A column is a moment, a row a range of addresses, higher ones further up. Ranges that follow one
another are drawn as one region under its addresses; between regions nothing was ever live. A cell
is as blue as its range is full; one that had been in use and is empty, or nearly, is a hole.

The page's script draws it from one byte a cell: 0 where nothing is live, else 1 to 255 for the
share that is. The regions are also a table. The arrow keys walk the cells, each described in words.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from heapwright.artefacts.profile.series import HeapMap, HeapRow
from heapwright.report.pages.frame import embedded
from heapwright.report.pages.parts import Data, in_figures, key
from heapwright.report.profile.words import memory, share

STYLE = Path(__file__).with_name("heap_map.css").read_text(encoding="utf-8")
SCRIPT = Path(__file__).with_name("heap_map.js").read_text(encoding="utf-8")
KEY = (("full", "#0072b2"), ("half full", "#b5bdc8"), ("hole", "#e07b00"))
MOST_REGIONS = 40


@dataclass(frozen=True, slots=True)
class Region:
    """Rows that follow one another, by their places."""

    first: int
    end: int


def regions_of(rows: Sequence[HeapRow]) -> list[Region]:
    """Runs of rows that touch."""
    found: list[Region] = []
    for place, row in enumerate(rows):
        before = rows[place - 1] if place else None
        if before is not None and before.start + before.bytes == row.start:
            found[-1] = Region(found[-1].first, place + 1)
        else:
            found.append(Region(place, place + 1))
    return found


def level(live: float) -> int:
    """A share as a byte; what is not nothing is not 0."""
    return 0 if live <= 0 else max(1, min(255, round(255 * live)))


def cells_text(drawn: HeapMap) -> str:
    """All cells, row by row, in base 64."""
    return base64.b64encode(bytes(level(cell) for row in drawn.cells for cell in row)).decode()


def heap_map(drawn: HeapMap, name: str = "heap-map") -> str:
    """The figure; empty maps are for the caller to leave out."""
    regions = regions_of(drawn.rows)
    value = {
        "times": [round(at, 6) for at in drawn.times_s],
        "starts": [f"{row.start:x}" for row in drawn.rows],
        "bytes": [row.bytes for row in drawn.rows],
        "regions": [[region.first, region.end] for region in regions],
        "cells": cells_text(drawn),
    }
    label = (
        f"Heap map: {memory(sum(row.bytes for row in drawn.rows))} of addresses in "
        f"{len(regions)} region{'s' if len(regions) > 1 else ''} over time. "
        "Arrow keys walk through it."
    )
    return (
        f'<div class="heap-map" id="{name}">{key(KEY, of_charts=False)}'
        f'<canvas tabindex="0" role="application" aria-roledescription="heap map" '
        f'aria-label="{escape(label, quote=True)}"></canvas>'
        f'<p class="heap-times dim"><span></span><span>time</span><span></span></p>'
        '<output aria-live="polite">&nbsp;</output>'
        f'<script type="application/json">{embedded(value)}</script></div>'
        + in_figures(regions_table(drawn, regions), label)
    )


def regions_table(drawn: HeapMap, regions: Sequence[Region]) -> Data:
    """The largest regions: how full they were at most and at the end, what of them is holes."""

    def row(region: Region) -> Sequence[str]:
        rows = drawn.rows[region.first : region.end]
        size = sum(each.bytes for each in rows)
        cells = drawn.cells[region.first : region.end]
        live = [
            sum(each.bytes * line[at] for each, line in zip(rows, cells, strict=True)) / size
            for at in range(len(drawn.times_s))
        ]
        holes = sum(
            each.bytes for each, line in zip(rows, cells, strict=True) if not line[-1] and any(line)
        )
        return (
            f"0x{rows[0].start:x}",
            memory(size),
            share(max(live, default=0)),
            share(live[-1] if live else 0),
            share(holes / size),
        )

    largest = sorted(
        regions, key=lambda each: -sum(r.bytes for r in drawn.rows[each.first : each.end])
    )[:MOST_REGIONS]
    return Data(
        ("region", "size", "live at most", "live at the end", "emptied at the end"),
        [row(region) for region in sorted(largest, key=lambda each: each.first)],
    )
