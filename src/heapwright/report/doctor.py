# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A checkup on a terminal: a line for each check, advice, the noise, the sentence."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from heapwright.artefacts.checkup.document import Checkup, Finding, Noise

_STYLES = {
    Finding.GOOD: "green",
    Finding.NOTE: "",
    Finding.WARNING: "bold yellow",
    Finding.BAD: "bold red",
    Finding.UNKNOWN: "dim",
}


def print_checkup(console: Console, found: Checkup, *, quiet: bool = False) -> None:
    """Everything, the sentence last; `quiet`: the sentence alone."""
    if not quiet:
        console.print(_table(found))
        console.print()
        if found.noise is not None:
            _print_noise(console, found.noise)
            console.print()
    style = "bold green" if found.fit else "bold red"
    console.print(Text(found.sentence, style=style), soft_wrap=True)


def _table(found: Checkup) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column("check", overflow="fold")
    table.add_column("finding", overflow="fold")
    table.add_column("says", overflow="fold")
    for check in found.checks:
        style = _STYLES[check.finding]
        table.add_row(check.name, Text(check.finding, style=style), check.says)
        if check.advice:
            table.add_row("", "", Text(f"→ {check.advice}"))
    return table


def _print_noise(console: Console, noise: Noise) -> None:
    own = f", {_percent(noise.cpu_scatter)} in processor time" if noise.cpu_scatter else ""
    lines = [
        f"{noise.runs} runs of {_seconds(noise.run_s)} scatter by {_percent(noise.scatter)}{own}; "
        f"neighbours differ by {_percent(noise.pair_scatter)}",
        f"the slowest took {noise.slowest:.2f} times the median; the second half "
        f"{100 * (noise.drift - 1):+.2f} % against the first",
    ]
    for line in lines:
        console.print(line, soft_wrap=True)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("runs of", justify="right", overflow="fold")
    table.add_column(
        f"blocks in {_seconds(noise.visible[0].budget_s)}", justify="right", overflow="fold"
    )
    table.add_column("shows from", justify="right", overflow="fold")
    for each in noise.visible:
        shown = "nothing" if each.difference is None else _percent(each.difference)
        table.add_row(_seconds(each.run_s), f"{each.blocks:,}", shown)
    console.print(table)


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2g} %" if fraction < 1 else f"{100 * fraction:.0f} %"


def _seconds(seconds: float) -> str:
    if seconds >= 60:
        return f"{seconds / 60:g} min"
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"
