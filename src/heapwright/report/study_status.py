# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How far a study is and how its runs ended, as text."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.study_results.runs import StudyDesign

LONGEST_WHY = 160
MOST_WHYS = 20


@dataclass(frozen=True, slots=True)
class BadEnd:
    """A way in which runs ended badly."""

    group: str
    outcome: Outcome
    count: int
    detail: str
    """What the first of them said."""


@dataclass(frozen=True, slots=True)
class StudyStatus:
    """What a results folder holds."""

    folder: str
    design: StudyDesign
    made: int
    outcomes: Mapping[str, Counter[Outcome]]
    """Of each allocator; of all, where no factor chooses one."""
    bad_ends: Sequence[BadEnd]
    hopeless: Sequence[str]
    """Treatments in which every run failed, by their levels."""
    hosts: Sequence[str]
    running: bool
    torn: bool
    left: int
    """Runs that are still to be made; not those of treatments that were given up."""
    remaining_s: float | None

    @property
    def good(self) -> int:
        return sum(each[Outcome.OK] for each in self.outcomes.values())


def print_status(console: Console, status: StudyStatus, remaining: str) -> None:
    """The state of a running study."""
    design = status.design
    scale = f", scale {design.scale}" if design.scale else ""
    state = "is being run" if status.running else "all made" if not status.left else "not running"
    console.print(f"{design.study}{scale}: {design.title}", soft_wrap=True)
    console.print(
        f"{status.made:,} of {design.planned:,} runs, {status.made / design.planned:.0%}; {state}"
        + (f"; {remaining}" if remaining and status.left else ""),
        soft_wrap=True,
    )
    if status.hosts:
        console.print(f"on {', '.join(status.hosts)}", soft_wrap=True)
    for line in _dropped(design):
        console.print(line, soft_wrap=True)
    if status.torn and not status.running:
        console.print("the last run was interrupted and does not count")
    _print_outcomes(console, status)
    if status.left and not status.running:
        console.print(f"to go on: heapwright study resume {status.folder}", soft_wrap=True)


def print_end(console: Console, status: StudyStatus, because: str, given_up: Sequence[str]) -> None:
    """The message at the end of a session."""
    console.print(
        f"{because}: {status.made:,} of {status.design.planned:,} runs, {status.good:,} good",
        soft_wrap=True,
    )
    for words in given_up:
        console.print(words, soft_wrap=True)
    if status.made > status.good:
        _print_outcomes(console, status)
    console.print(f"results: {status.folder}", soft_wrap=True)
    if status.left:
        console.print(f"to go on: heapwright study resume {status.folder}", soft_wrap=True)
    console.print(f"what came of it: heapwright analyse {status.folder}", soft_wrap=True)


def _dropped(design: StudyDesign) -> Iterator[str]:
    for each in design.dropped:
        yield f"dropped: {each.factor} {each.level}: {each.because}"


def _print_outcomes(console: Console, status: StudyStatus) -> None:
    """A row an allocator, a column for each way of ending that there was."""
    if not status.made:
        return
    seen = [end for end in Outcome if any(each[end] for each in status.outcomes.values())]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(status.design.allocator_factor or "", overflow="fold")
    for end in seen:
        table.add_column(end.value, justify="right", overflow="fold")
    for group, counts in status.outcomes.items():
        table.add_row(group, *(f"{counts[end]:,}" if counts[end] else "" for end in seen))
    console.print(table)
    for bad in status.bad_ends[:MOST_WHYS]:
        times = "once" if bad.count == 1 else f"{bad.count:,} times"
        why = bad.detail.strip().replace("\n", "; ")[:LONGEST_WHY]
        console.print(f"{bad.group}: {bad.outcome} {times}: {why}", soft_wrap=True)
    for levels in status.hopeless[:MOST_WHYS]:
        console.print(f"every run failed: {levels}", soft_wrap=True)
    if len(status.hopeless) > MOST_WHYS:
        console.print(f"and {len(status.hopeless) - MOST_WHYS} more treatments")
