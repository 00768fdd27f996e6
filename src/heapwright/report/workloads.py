# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Named workloads as text: their list, and one of them with its parameters."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from heapwright.artefacts.workload.library import Parameter, Workload


def print_workloads(console: Console, workloads: Sequence[Workload]) -> None:
    """One line each, folded on a narrow terminal."""
    table = _plain("workload", "what it does")
    for workload in workloads:
        table.add_row(workload.name, workload.summary)
    console.print(table)


def print_workload(console: Console, workload: Workload, path: str) -> None:
    """The whole description of one workload."""
    console.print(Text(workload.name, style="bold"))
    facts = (workload.summary, f"published {workload.published}", f"threads {workload.threads}")
    for line in facts:
        console.print(Text(f"  {line}"))
    console.print(f"  path {path}", soft_wrap=True)
    console.print()
    table = _plain("parameter", "default", "published", "meaning")
    for parameter in workload.parameters:
        table.add_row(
            f"--{parameter.name}",
            _default(parameter),
            parameter.published or "-",
            _meaning(parameter),
        )
    console.print(table)


def _plain(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _meaning(parameter: Parameter) -> str:
    if not parameter.choices:
        return parameter.meaning
    *others, last = parameter.choices
    return f"{parameter.meaning}: {', '.join(others)} or {last}"


def _default(parameter: Parameter) -> str:
    if parameter.choices:
        return parameter.choices[parameter.value]
    return f"{parameter.value:,}" + (", scaled" if parameter.scaled else "")
