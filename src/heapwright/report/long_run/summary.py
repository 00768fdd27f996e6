# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A long run on a terminal: how fast each part of memory grows, and whether the client slows."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from heapwright.artefacts.long_run.document import Direction, LongRun
from heapwright.artefacts.run.measured import Outcome
from heapwright.base.quantities import size
from heapwright.report.long_run import words

STYLES = {Direction.GROWS: "bold yellow", Direction.SHRINKS: "bold", Direction.LEVEL: "green"}
TOO_SHORT = "too few samples for a growth: let it run longer"


def print_long_run(console: Console, run: LongRun, explained: str = "") -> None:
    """The program, the growths, the explanation, the client's figures, and notes."""
    good = run.outcome is Outcome.OK
    head = Text(f"{words.load_of(run)}: ")
    console.print(head.append(run.outcome.value, style="green" if good else "bold red"))
    for line in words.ending(run):
        console.print(Text(f"  {line}"), soft_wrap=True)
    console.print(Text(f"  {words.extent(run)}"))
    if run.growths:
        console.print(_growths(run))
        settled = run.settled_s / words.HOUR_S
        told = f"{run.confidence:.0%} intervals, from {settled:.2g} h on"
        console.print(Text(f"growth in an hour, {told}", style="dim"))
    elif run.samples:
        console.print(Text(f"  {TOO_SHORT}"))
    if explained:
        console.print(Text(explained, style="bold"))
    drift = list(words.drift(run))
    if drift:
        table = _plain("client", "first quarter", "last quarter")
        for title, first, last in drift:
            table.add_row(title, first, last)
        console.print(table)
    for note in run.notes:
        console.print(Text(f"- {note}"))


def _growths(run: LongRun) -> Table:
    table = _plain("memory", "median", "growth in an hour", "")
    for each in run.growths:
        said = Text(words.TOLD[each.direction], style=STYLES[each.direction])
        table.add_row(each.series, size(round(each.level_bytes)), words.rate(each), said)
    return table


def _plain(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
