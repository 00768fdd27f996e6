# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A gate's answer on a terminal or in a log: the sentence, a line for each figure, notes."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from heapwright.artefacts.gate.document import Change, Gate, Shift

_STYLES = {
    Change.BROKEN: "bold red",
    Change.SLOWER: "bold red",
    Change.LARGER: "bold red",
    Change.UNDECIDED: "bold yellow",
    Change.FASTER: "bold green",
    Change.SMALLER: "bold green",
    Change.SAME: "bold",
}


def print_gate(console: Console, gate: Gate, *, quiet: bool = False) -> None:
    """The sentence first; `quiet`: nothing else."""
    console.print(Text(gate.sentence, style=_STYLES[gate.verdict]), soft_wrap=True)
    if quiet:
        return
    console.print()
    console.print(_table(gate))
    for note in gate.notes:
        console.print(f"- {note}", soft_wrap=True)


HEADINGS = ("treatment", "figure", "change", "current over baseline", "runs", "more blocks")


def cells(shift: Shift) -> tuple[str, ...]:
    """The row of a figure under these headings."""
    runs = f"{shift.runs[0]}, {shift.runs[1]}" if shift.ratio is not None else ""
    named = (shift.treatment, shift.response, str(shift.change))
    return (*named, _ratio(shift), runs, _more(shift))


def _table(gate: Gate) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place, name in enumerate(HEADINGS):
        table.add_column(name, justify="left" if place < 4 else "right", overflow="fold")
    for shift in gate.shifts:
        treatment, response, change, *others = cells(shift)
        styled = Text(change, style=_STYLES[shift.change])
        table.add_row(Text(treatment), response, styled, *others)
    return table


def _ratio(shift: Shift) -> str:
    if shift.ratio is None:
        return shift.words
    if shift.low is None or shift.high is None:
        return f"{shift.ratio:.4f} (no interval)"
    return f"{shift.ratio:.4f} ({shift.low:.4f} to {shift.high:.4f})"


def _more(shift: Shift) -> str:
    if shift.change is not Change.UNDECIDED:
        return ""
    return "too many" if shift.more_blocks is None else str(shift.more_blocks)
