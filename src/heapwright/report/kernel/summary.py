# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of a study of kernels on a terminal, with the words that the page also uses."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from heapwright.artefacts.kernel_study.document import Cell, Figure
from heapwright.report.kernel.text import figure

COLUMNS = ("load", "figure", "kernel", "mean", "over slub", "seeds")


def print_figures(console: Console, figures: Sequence[Figure]) -> None:
    """A line for each."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in COLUMNS:
        table.add_column(name, overflow="fold")
    for each in figures:
        table.add_row(*line_of(each))
    console.print(table)


def load_of(each: Figure | Cell) -> str:
    """The load, with the processors if they are several, and with memory that is not the load's."""
    processors = "" if each.cpus == 1 else f", {each.cpus} processors"
    memory = f", {each.memory_mib:,} MiB" if each.memory_mib else ""
    return f"{each.load}{processors}{memory}"


def line_of(each: Figure) -> tuple[str, ...]:
    """The cells of a figure, as text."""
    return (
        load_of(each),
        each.response,
        each.allocator,
        figure(each.mean),
        ratio_of(each),
        str(len(each.values)),
    )


def ratio_of(each: Figure) -> str:
    """The ratio, with its interval if that has a width; empty without a ratio."""
    if each.ratio is None:
        return ""
    if each.low is None or each.high is None or f"{each.low:.3f}" == f"{each.high:.3f}":
        return f"{each.ratio:.3f}"
    return f"{each.ratio:.3f} ({each.low:.3f} to {each.high:.3f})"
