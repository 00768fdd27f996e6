# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""An explanation on a terminal: the parts of memory over time, and the sentence.

Each line is a moment, and all bars have one scale. A bar shows live bytes (#), bytes added by
rounding up (+), memory that the allocator held (=), and other resident memory (.).
"""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from heapwright.artefacts.explanation.document import Culprit, Explanation, Kind, Moment
from heapwright.artefacts.profile.library_frames import own_frames
from heapwright.base.quantities import several, size

LINES = 12
BAR = 40
LEAST_BAR = 8
COLUMNS = ("time", "live", "waste", "held", "other", "resident")
SPARED = (("waste", "other"), ("held",))
"""Columns to leave out on a narrow terminal; the document has them."""
_STYLES = {
    Kind.LEAK: "bold red",
    Kind.RETENTION: "bold yellow",
    Kind.GROWTH: "bold yellow",
    Kind.ELSEWHERE: "bold",
    Kind.STEADY: "bold green",
    Kind.UNKNOWN: "bold",
}
_PARTS = (("#", "green"), ("+", "yellow"), ("=", "red"), (".", "dim"))


def print_explanation(console: Console, found: Explanation, *, quiet: bool = False) -> None:
    """The table of moments, the sentence, the places with the calls of the program's own code;
    `quiet`: the sentence alone."""
    if not quiet and found.moments:
        console.print(_table(found.moments, console.width))
        console.print(
            Text("# live  + internal waste  = held by the allocator  . other", style="dim")
        )
        console.print()
    console.print(Text(found.sentence, style=_STYLES[found.kind]), soft_wrap=quiet)
    if quiet:
        return
    for culprit, frames in zip(found.culprits, _distinct_frames(found.culprits), strict=True):
        what = f"  {_kind(culprit)}{_amount(culprit)}"
        lines = (what, *(f"      {each}" for each in frames))
        console.print(Text("\n".join(lines)), soft_wrap=True)


def _distinct_frames(culprits: Sequence[Culprit]) -> list[tuple[str, ...]]:
    """The calls of each place in the program's own code. If two have the same, both also have the
    calls of libraries. If these are the same too, the calls stand on the same lines, and a
    number distinguishes them."""
    own = [_own_frames(each) for each in culprits]
    longer = [
        each.frames if own.count(frames) > 1 else frames
        for each, frames in zip(culprits, own, strict=True)
    ]
    return [
        (
            *frames,
            f"(call {longer[: at + 1].count(frames)} of {longer.count(frames)} on these lines)",
        )
        if longer.count(frames) > 1
        else frames
        for at, frames in enumerate(longer)
    ]


def _own_frames(culprit: Culprit) -> tuple[str, ...]:
    begin = culprit.frames.index(culprit.place) if culprit.place in culprit.frames else 0
    return own_frames(culprit.frames[begin:]) or culprit.frames


def _kind(culprit: Culprit) -> str:
    return f"{culprit.kind}: " if culprit.kind else ""


def _amount(culprit: Culprit) -> str:
    if not culprit.blocks:
        return f"{size(culprit.bytes)}, most of it freed at the end"
    return f"{size(culprit.bytes)} in {several(culprit.blocks, 'block')}"


def _table(moments: Sequence[Moment], width: int) -> Table:
    """The columns that fit the width. The bar becomes shorter and is the first to be left out."""
    chosen = _spread(moments)
    names = [*COLUMNS]
    rows = [[f"{each.time_s:.3g} s", *map(_told, _columns(each))] for each in chosen]
    for spared in SPARED:
        if sum(_widths(names, rows)) > width:
            kept = [at for at, name in enumerate(names) if name not in spared]
            names, *rows = [[row[at] for at in kept] for row in (names, *rows)]
    bar = min(BAR, width - sum(_widths(names, rows)))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    if bar >= LEAST_BAR:
        table.add_column("", no_wrap=True)
    scale = max(sum(_parts(moment)) for moment in chosen)
    for moment, row in zip(chosen, rows, strict=True):
        table.add_row(*row, *([_bar(moment, scale, bar)] if bar >= LEAST_BAR else []))
    return table


def _widths(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """The width of the columns with their gaps."""
    return [max(map(len, column)) + 2 for column in zip(names, *rows, strict=True)]


def _columns(moment: Moment) -> tuple[int | None, ...]:
    return (
        moment.live_bytes,
        moment.waste_bytes,
        moment.held_bytes,
        moment.other_bytes,
        moment.resident_bytes,
    )


def _told(count: int | None) -> str:
    return "?" if count is None else size(count)


def _spread(moments: Sequence[Moment]) -> list[Moment]:
    """Samples evenly over time, with the first, the last and the one of most resident memory."""
    if len(moments) <= LINES:
        return list(moments)
    begin, end = moments[0].time_s, moments[-1].time_s
    wanted = [begin + (end - begin) * i / (LINES - 1) for i in range(LINES)]
    picked = {
        min(range(len(moments)), key=lambda i: abs(moments[i].time_s - time)) for time in wanted
    }
    picked.add(max(range(len(moments)), key=lambda i: sum(_parts(moments[i]))))
    return [moments[i] for i in sorted(picked)]


def _parts(moment: Moment) -> tuple[int, ...]:
    """Resident parts. Live memory may be partly not resident, so their sum may exceed resident
    memory."""
    return (
        moment.live_bytes,
        moment.waste_bytes or 0,
        moment.held_bytes or 0,
        moment.other_bytes or 0,
    )


def _bar(moment: Moment, scale: int, width: int) -> Text:
    bar = Text()
    total = drawn = 0
    for part, (letter, style) in zip(_parts(moment), _PARTS, strict=True):
        total += part
        upto = round(width * total / scale) if scale else 0
        bar.append(letter * (upto - drawn), style=style)
        drawn = upto
    return bar
