# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of a compared program besides time and peak memory, read from its output.

Each figure is the median of all good measured runs, in the unit of the program. The ratio in
brackets is that of its effect; below 1 is better.
"""

from collections.abc import Iterator
from statistics import median

from rich.console import Console
from rich.table import Table
from rich.text import Text

from heapwright.artefacts.comparison.document import Comparison, TreatmentInfo
from heapwright.artefacts.program.model import ProgramFigure, ProgramSubject
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.report.table import ratio_text

MEBI = 2**20


def print_program_figures(
    console: Console, comparison: Comparison, subject: ProgramSubject
) -> None:
    """A table with a row for each treatment, and which program it was."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("Program", overflow="fold")
    for figure in subject.figures:
        unit = f", {figure.unit}" if figure.unit else ""
        table.add_column(f"{figure.title}{unit}", justify="right", overflow="fold")
    table.add_column("memory at the end, MiB", justify="right", overflow="fold")
    for info in comparison.treatments:
        cells = [_cell(comparison, info, figure) for figure in subject.figures]
        table.add_row(Text(info.label), *cells, _idle(comparison, info))
    console.print()
    console.print(table)
    console.print()
    for line in subject_lines(subject):
        console.print(Text(line, style="dim"))


def subject_lines(subject: ProgramSubject) -> Iterator[str]:
    """What was run."""
    values = ", ".join(f"{name} {value}" for name, value in subject.parameters.items())
    scale = f", scale {subject.scale}" if subject.scale else ""
    yield f"Program: {subject.name}{scale}{': ' if values else ''}{values}."
    if subject.client:
        yield "Time is that of its client; memory and processor time are the server's."


def _good(comparison: Comparison, info: TreatmentInfo) -> Iterator[Run]:
    for run in comparison.runs:
        mine = (run.allocator, run.level) == info.key and not run.warmup
        if mine and run.outcome is Outcome.OK:
            yield run


def _cell(comparison: Comparison, info: TreatmentInfo, figure: ProgramFigure) -> str:
    measure = figure.measure
    values = [run.measures[measure] for run in _good(comparison, info) if measure in run.measures]
    if not values:
        return "-"
    middle = median(values)
    read = 1 / middle if figure.inverse and middle > 0 else middle
    ratio = ratio_text(comparison.effect(info.key, measure), info.label == _baseline(comparison))
    return f"{read:,.4g}" if ratio in ("-", "1") else f"{read:,.4g} ({ratio.partition(' ')[0]})"


def _baseline(comparison: Comparison) -> str:
    return comparison.design.baseline


def _idle(comparison: Comparison, info: TreatmentInfo) -> str:
    """The last sample of its memory while it ran."""
    last = [
        next((size for _, size in reversed(run.rss_series) if size > 0), 0)
        for run in _good(comparison, info)
    ]
    seen = [size for size in last if size]
    return f"{median(seen) / MEBI:,.1f}" if seen else "-"
