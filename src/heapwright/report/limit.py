# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The answer of `limit` on a terminal: one line for each budget, then the sites at fault."""

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath

from rich.console import Console
from rich.text import Text

from heapwright.artefacts.limit.document import (
    Judged,
    Limit,
    ProcessFigures,
    SiteAtFault,
    Verdict,
)
from heapwright.artefacts.profile.library_frames import own_frames
from heapwright.base.quantities import several, size
from heapwright.report.columns import Columns

MOST_SITES = 5
MOST_CALLS = 6
MOST_PROCESSES = 10
_STYLES = {Verdict.WITHIN: "green", Verdict.EXCEEDED: "bold red", Verdict.UNKNOWN: "bold yellow"}


def print_limit(console: Console, found: Limit, *, quiet: bool = False) -> None:
    """The budgets, the sites of exceeded budgets, the notes; `quiet`: only budgets that were not
    kept, without their sites. Without budgets, the figures of the processes. The last line is how
    the command failed, if it did."""
    for judged in found.budgets:
        if not quiet or judged.verdict is not Verdict.WITHIN:
            text = Text.assemble(
                f"{judged.budget.name}: ",
                (str(judged.verdict), _STYLES[judged.verdict]),
                f", {_amounts(judged)}{_where(judged, found.processes)}",
            )
            console.print(text, soft_wrap=True)
        if not quiet:
            for line in _sites(judged):
                console.print(Text(line), soft_wrap=True)
    if not found.budgets:
        console.print(_processes(found.processes))
    if not quiet:
        for note in found.notes[:-1] if found.exit_status else found.notes:
            console.print(Text(f"  {note}"), soft_wrap=True)
    if found.exit_status:
        console.print(Text(found.notes[-1]), soft_wrap=True)


def _amounts(judged: Judged) -> str:
    budget = judged.budget
    most = f"at most {budget.amount(budget.limit)}"
    if judged.figure is None:
        return f"{most}: {judged.reason}"
    figure = budget.amount(judged.figure)
    return f"{figure}, {most}" + (f": {judged.reason}" if judged.reason else "")


def _where(judged: Judged, processes: Sequence[ProcessFigures]) -> str:
    """The process of the figure, if there are several."""
    if len(processes) < 2 or judged.verdict is not Verdict.EXCEEDED:
        return ""
    found = next((each for each in processes if each.process == judged.process), None)
    return "" if found is None else f", in process {_name(found)}"


def _name(process: ProcessFigures) -> str:
    name = PurePath(process.command[0]).name if process.command else "unknown"
    return f"{process.process} ({name}, pid {process.pid})"


def _sites(judged: Judged) -> list[str]:
    """The largest sites with the calls of the program's own code. Sites with the same such calls
    are joined."""
    amounts: Counter[tuple[str, ...]] = Counter()
    for site in judged.sites:
        amounts[_own(site)] += site.amount
    lines = []
    ordered = sorted(amounts.items(), key=lambda each: -each[1])
    for calls, amount in ordered[:MOST_SITES]:
        lines.append(f"  {judged.budget.amount(amount)}: {calls[0]}")
        lines += [f"      called by {call}" for call in calls[1:MOST_CALLS]]
    rest = ordered[MOST_SITES:]
    if rest:
        of_rest = judged.budget.amount(sum(each for _, each in rest))
        lines.append(f"  {of_rest}: {several(len(rest), 'more site')}")
    return lines


def _own(site: SiteAtFault) -> tuple[str, ...]:
    begin = site.frames.index(site.place) if site.place in site.frames else 0
    return own_frames(site.frames[begin:]) or site.frames or ("a place without a stack",)


def _processes(processes: Sequence[ProcessFigures]) -> Columns:
    ordered = sorted(processes, key=lambda each: (-each.peak_bytes, each.process))
    rows = [
        (_name(each), f"{each.allocations:,}", size(each.bytes), size(each.peak_bytes))
        for each in ordered[:MOST_PROCESSES]
    ]
    if len(ordered) > MOST_PROCESSES:
        rows.append(
            (several(len(ordered) - MOST_PROCESSES, "more process", "more processes"), "", "", "")
        )
    return Columns(("process", "allocations", "bytes", "peak"), rows)
