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


def _table(gate: Gate) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("treatment", "figure", "change", "current over baseline"):
        table.add_column(name, overflow="fold")
    table.add_column("runs", justify="right", overflow="fold")
    table.add_column("more blocks", justify="right", overflow="fold")
    for shift in gate.shifts:
        table.add_row(
            Text(shift.treatment),
            shift.response,
            Text(shift.change, style=_STYLES[shift.change]),
            _ratio(shift),
            f"{shift.runs[0]}, {shift.runs[1]}" if shift.ratio is not None else "",
            _more(shift),
        )
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
