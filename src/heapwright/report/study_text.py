# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Studies as text: their list, and one of them with its factors and what it comes to."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from heapwright.artefacts.study.acceptance import Acceptance
from heapwright.artefacts.study.model import Study
from heapwright.artefacts.study.sensitivity import Sensitivity
from heapwright.artefacts.study.substitution import Substitution


@dataclass(frozen=True, slots=True)
class Size:
    """What a study comes to at one scale."""

    scale: str
    """Empty: the whole."""
    extent: str
    notes: tuple[str, ...] = ()
    """Dropped levels with their reasons, what constraints leave out, how a fraction was chosen."""


def print_studies(console: Console, studies: Sequence[Study]) -> None:
    """One line each."""
    table = _plain("study", "what it compares", "scales")
    for study in studies:
        table.add_row(study.name, study.title, ", ".join(study.scale) or "-")
    console.print(table)


def print_study(console: Console, study: Study, path: str, sizes: Sequence[Size]) -> None:
    """All that a study file says, and what it comes to on this machine."""
    console.print(Text(study.name, style="bold"))
    console.print(Text(f"  {study.title}"))
    console.print(f"  file {path}", soft_wrap=True)
    if study.source:
        console.print(Text(f"  published {study.source}"))
    for line in study.description.strip().splitlines():
        console.print(Text(f"  {line}"))
    console.print()
    console.print(_factors(study))
    console.print()
    console.print(_responses(study))
    if study.findings:
        console.print()
        findings = _plain("finding", "in words")
        for finding in study.findings:
            findings.add_row(finding.id, finding.words)
        console.print(findings)
    if study.choice is not None:
        console.print()
        console.print(Text(_choice(study.choice)))
    if study.care is not None:
        console.print()
        console.print(Text(_care(study.care)))
    if study.bar is not None:
        console.print()
        console.print(_bar(study.bar))
    console.print()
    print_sizes(console, sizes)


def print_sizes(console: Console, sizes: Sequence[Size]) -> None:
    """How large a study is at each of its scales."""
    for size in sizes:
        console.print(Text(f"{size.scale or 'whole'}: ", style="bold").append(size.extent, ""))
        for note in size.notes:
            console.print(Text(f"  {note}"))


def _factors(study: Study) -> Table:
    table = _plain("factor", "levels", "role")
    for name, factor in study.factors.items():
        base = study.baseline if name == study.allocator_factor else factor.baseline_name
        levels = (f"{each} (baseline)" if each == base else each for each in factor.names)
        unit = f" [{factor.unit}]" if factor.unit else ""
        role = study.role(name) + (f": {factor.variable}" if factor.variable else "")
        table.add_row(f"{name}{unit}", " · ".join(levels), role)
    return table


def _responses(study: Study) -> Table:
    table = _plain("response", "from", "unit", "better")
    for name, response in study.responses.items():
        table.add_row(name, response.origin, response.unit_text or "-", response.better)
    return table


def _choice(choice: Substitution) -> str:
    """`is custom worth it, by program? against glibc, lea; beside it reap`."""
    beside = f"; beside it {', '.join(choice.instead)}" if choice.instead else ""
    rivals = ", ".join(choice.general)
    return f"is {choice.custom} worth it, by {choice.by}? against {rivals}{beside}"


def _care(care: Sensitivity) -> str:
    """`which program cares which allocator it has? by time, memory`."""
    responses = f" by {', '.join(care.responses)}" if care.responses else ""
    return f"which {care.by} cares which {care.factor} it has?{responses}"


def _bar(bar: Acceptance) -> Table:
    table = _plain(f"bar for {bar.level}", "response", "limit", "at each")
    for line in bar.lines:
        table.add_row(line.words, line.response, line.asked, ", ".join(line.each) or "-")
    return table


def _plain(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
