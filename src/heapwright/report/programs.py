# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Programs under study as text: their list, one of them, and the figures of a single run."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from heapwright.artefacts.comparison.document import label_of
from heapwright.artefacts.program.model import Program
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.artefacts.study.factor import scalar_text

MEBI = 2**20


def print_programs(console: Console, rows: Sequence[tuple[Program, str]]) -> None:
    """One line each: what it is, and whether it can be run here."""
    table = _plain("program", "what it is", "scales", "here")
    for program, here in rows:
        table.add_row(
            program.name, Text(program.title), ", ".join(program.scale) or "-", Text(here)
        )
    console.print(table)


def print_program(
    console: Console, program: Program, path: str, command: Sequence[str], lacks: Sequence[str]
) -> None:
    """The facts of a program file that matter to a reader."""
    console.print(Text(program.name, style="bold"))
    console.print(Text(f"  {program.title}"))
    console.print(f"  file {path}", soft_wrap=True)
    if program.source:
        console.print(Text(f"  published {program.source}"))
    for line in program.description.strip().splitlines():
        console.print(Text(f"  {line}"))
    console.print(Text(f"  {'server' if program.is_server else 'command'} {' '.join(command)}"))
    if program.packages:
        console.print(Text(f"  packages {' '.join(program.packages)}"))
    for why in lacks:
        console.print(Text(f"  missing: {why}"))
    for each in program.caution:
        console.print(Text(f"  caution: {each}"))
    if program.parameters:
        console.print()
        console.print(_parameters(program))
    if program.responses:
        console.print()
        table = _plain("response", "unit", "better", "compared as")
        for name, response in program.responses.items():
            compared = response.inverse or (name if response.better == "lower" else "-")
            table.add_row(name, response.unit or "-", response.better, compared)
        console.print(table)
    for check in program.checks:
        console.print(Text(f"  must be so: {check.what}"))


def _parameters(program: Program) -> Table:
    """With a column for each scale that changes any of them."""
    scales = {
        name: changes.get("parameters", {})
        for name, changes in program.scale.items()
        if changes.get("parameters")
    }
    table = _plain("parameter", "whole", *scales)
    for name, value in program.parameters.items():
        others = [scalar_text(changes.get(name, value)) for changes in scales.values()]
        table.add_row(name, scalar_text(value), *others)
    return table


def print_run(
    console: Console,
    program: Program,
    run: Run,
    responses: Mapping[str, float],
    notes: Sequence[str],
) -> None:
    """The figures of one run."""
    label = label_of(run.allocator, run.level)
    good = run.outcome is Outcome.OK
    console.print(
        Text(f"{program.name} under {label}: ").append(
            run.outcome.value, style="green" if good else "bold red"
        )
    )
    if not good:
        for line in run.detail.splitlines():
            console.print(Text(f"  {line}"), soft_wrap=True)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold", justify="right")
    table.add_column(overflow="fold")
    for words, value, unit in _figures(program, run):
        table.add_row(Text(f"  {words}"), value, unit)
    for name, number in responses.items():
        response = program.responses[name]
        table.add_row(Text(f"  {response.title or name}"), f"{number:,.6g}", response.unit)
    console.print(table)
    for note in notes:
        console.print(Text(f"- {note}"))


def _figures(program: Program, run: Run) -> list[tuple[str, str, str]]:
    """The measured figures."""
    whose = "the server's " if program.is_server else ""
    spent = None if run.user_s is None or run.sys_s is None else run.user_s + run.sys_s
    found = [
        ("time of the client" if program.is_server else "time", run.wall_s, "s", 1.0),
        (f"{whose}processor time", spent, "s", 1.0),
        ("the client's processor time", run.client_cpu_s, "s", 1.0),
        (f"{whose}peak memory", run.peak_rss_bytes, "MiB", 1.0 / MEBI),
        (f"{whose}memory at the end", _idle(run), "MiB", 1.0 / MEBI),
    ]
    return [
        (words, f"{value * factor:,.4g}", unit)
        for words, value, unit, factor in found
        if value is not None
    ]


def _idle(run: Run) -> int | None:
    """The last sample of its memory while it ran."""
    return next((size for _, size in reversed(run.rss_series) if size > 0), None)


def _plain(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
