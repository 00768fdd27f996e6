# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A history on a terminal: a sentence for each change, and a curve for each series."""

from collections.abc import Sequence
from statistics import median

from rich.console import Console
from rich.text import Text

from heapwright.artefacts.history.model import Change, Point, Series
from heapwright.base.quantities import size
from heapwright.report.columns import Columns

BARS = "▁▂▃▄▅▆▇█"
LONGEST_CURVE = 40


def print_history(  # noqa: PLR0913 - each is one part of the answer
    console: Console,
    documents: int,
    series: Sequence[Series],
    found: Sequence[Change],
    notes: Sequence[str],
    *,
    quiet: bool = False,
) -> None:
    """Print the changes first, then the series; `quiet` leaves only the changes."""
    for change in found:
        console.print(Text(change_text(change), style="bold yellow"), soft_wrap=quiet)
    if not found:
        console.print(Text(f"No change in {documents} documents", style="bold"))
    if quiet:
        return
    console.print()
    rows = [
        (
            each.treatment,
            each.response,
            f"ratio to {each.relative_to}" if each.relative_to else "absolute",
            f"{len(each.points)}",
            value_text(each, median(each.values)),
            curve(each.values),
        )
        for each in series
    ]
    headings = ("candidate", "figure", "kind", "documents", "median", "oldest to newest")
    console.print(Columns(headings, rows, left=len(headings)))
    commands = dict.fromkeys(each.command for each in series)
    machines = dict.fromkeys(each.machine for each in series)
    if len(commands) > 1 or len(machines) > 1:
        console.print(
            Text(f"{len(commands)} commands on {len(machines)} kinds of processors: each apart.")
        )
    for note in notes:
        console.print(Text(f"- {note}"))


def change_text(change: Change) -> str:
    """Such as "instructions of glibc: 5.1 % more from v1.3-2-gabc (2026-11-24) on"."""
    series, ratio = change.series, change.found.ratio
    direction = "more" if ratio > 1 else "less"
    relative = f" relative to {series.relative_to}" if series.relative_to else ""
    return (
        f"{series.response} of {series.treatment}: {100 * abs(ratio - 1):.3g} % {direction}"
        f"{relative} from {point_text(change.first)} on; before it was {point_text(change.before)}"
    )


def point_text(point: Point) -> str:
    """The revision and the date of a document."""
    date = point.date.partition("T")[0]
    return f"{point.revision} ({date})" if point.revision else date


def value_text(series: Series, value: float) -> str:
    """A value in the unit of its series."""
    if series.relative_to:
        return f"{value:.3f}"
    if series.unit == "s":
        return f"{value:.3g} s"
    return size(round(value)) if series.unit == "bytes" else f"{value:,.0f}"


def curve(values: Sequence[float]) -> str:
    """The values as bars; medians of neighbours if there are many."""
    every = -(-len(values) // LONGEST_CURVE)
    shown = [median(values[at : at + every]) for at in range(0, len(values), every)]
    low, high = min(shown), max(shown)
    if high <= low:
        return BARS[0] * len(shown)
    top = len(BARS) - 1
    return "".join(BARS[round((value - low) / (high - low) * top)] for value in shown)
