# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Drag on a terminal: the figures, the two curves, and the sites that hold memory longest."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from heapwright.artefacts.drag.document import Drag, Some
from heapwright.base.quantities import several
from heapwright.report.columns import Columns, Entries
from heapwright.report.drag import words
from heapwright.report.profile.words import memory, share

BLOCKS = " ▁▂▃▄▅▆▇█"
CURVE = 48
SITES = 8
CURVES = ("Held", "Needed")


def print_summary(console: Console, found: Drag, *, quiet: bool = False) -> None:
    """Print the summary; `quiet` leaves one sentence."""
    if quiet:
        line = "; ".join([words.sentence(found), *words.endings(found)])
        console.print(Text(line), soft_wrap=True)
        return
    drawn = console.encoding.startswith("utf")
    console.print(Entries([each for each in entries(found) if drawn or each[0] not in CURVES]))
    if words.dragging(found):
        console.print()
        console.print(sites_table(found))
    told = list(words.remarks(found))
    if told:
        console.print()
        console.print(Entries([("Note", line) for line in told]))


def entries(found: Drag) -> Iterator[tuple[str, str]]:
    """The lines of the report, one for each aspect."""
    yield "Watched", f"{words.command_of(found)} ({found.provenance.means})"
    yield "Total drag", _total(found)
    yield (
        "Peak",
        f"{words.increase(found.peak_increase)}: {memory(found.peak_held.bytes)} held at most, "
        f"{memory(found.peak_needed.bytes)} needed at most",
    )
    yield "Allocated", f"{memory(found.allocated_bytes)} in {several(found.objects, 'object')}"
    yield "Never freed", _some(found.never_freed)
    yield "Never accessed", _some(found.never_accessed)
    top = max(found.peak_held.bytes, 1)
    yield CURVES[0], curve(found.curves.held, top)
    yield CURVES[1], curve(found.curves.needed, top)


def _total(found: Drag) -> str:
    if found.total_drag is None:
        return "unknown: it allocated nothing"
    if found.total_drag == 1:
        return "1: no memory was held after its last use"
    return (
        f"{words.ratio(found.total_drag)}: in the mean over what it allocated, "
        f"{memory(found.held_area / found.allocated_bytes)} were held and "
        f"{memory(found.needed_area / found.allocated_bytes)} needed"
    )


def _some(what: Some) -> str:
    return f"{several(what.objects, 'object')}, {memory(what.bytes)}"


def curve(values: Sequence[int], top: int) -> str:
    """A curve over allocation time as one line of blocks, at the scale of `top`."""
    if not values:
        return ""
    scale = len(BLOCKS) - 1
    width = min(CURVE, len(values))
    parts = [
        values[len(values) * at // width : len(values) * (at + 1) // width] for at in range(width)
    ]
    return "".join(BLOCKS[min(-(-max(part) * scale // top), scale)] for part in parts)


def sites_table(found: Drag) -> Columns:
    """The sites of the most drag."""
    rows = [
        (
            words.chain_of(site.frames),
            share(site.share),
            f"{site.objects:,}",
            memory(site.bytes),
            memory(site.idle_bytes),
        )
        for site in words.dragging(found)[:SITES]
    ]
    return Columns(
        ("allocated by", "of the drag", "objects", "bytes", "idle for"),
        rows,
    )
