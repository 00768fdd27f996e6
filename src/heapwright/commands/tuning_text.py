# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Shows a search: its progress on standard error, and its answer as text."""

from collections.abc import Sequence
from typing import TextIO

from rich.text import Text

from heapwright.analysis.ratio_text import percent_text
from heapwright.analysis.tuning.answer import NAMES
from heapwright.artefacts.tuning.document import Ratio, Tuning
from heapwright.commands.progress import BarDisplay
from heapwright.commands.text import printing
from heapwright.commands.tuning_runs import Schedule
from heapwright.experiment.blocks import Assignment
from heapwright.report.columns import Columns
from heapwright.report.console import make_console

PHASES = {"screen": "screening", "race": "race", "confirm": "confirmation"}
HEADINGS = ("Setting", "From", "To")
SHOWN = 3
"""Raced candidates in the report."""


class SearchDisplay(BarDisplay):
    """The progress of a search. Pass `begins` to the engine."""

    def __init__(self, schedule: Schedule, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._schedule = schedule
        self._warned = False
        self._continues = bool(schedule.folder.made)

    def begins(self, assignment: Assignment) -> None:
        """Show the run that begins."""
        if self._continues:
            self._continues = False
            self.announce(f"heapwright: continues the search in {self._schedule.folder.path}")
        if not assignment.warmup and not self._warned:
            self._warned = True
            for note in self._schedule.warnings:
                self.announce(f"heapwright: {note}")
        line = self._line(assignment)
        if self._drawing is None:
            self._say(lambda: f"heapwright: {line}")
            return
        search = self._schedule.search
        total = None if search is None else search.most_runs
        self._drawing.update(
            self._task, completed=self._schedule.runs, total=total, description=line
        )

    def _line(self, assignment: Assignment) -> str:
        block = self._schedule.block
        if assignment.warmup or block is None:
            return "warm-up"
        phase = PHASES[block.phase]
        return f"{phase}, run {self._schedule.runs + 1}: {assignment.treatment.level or 'default'}"


@printing()
def print_tuning(document: Tuning, lines: Sequence[str], *, quiet: bool, stream: TextIO) -> None:
    """The effects, the best candidates and the answer; `quiet`: the answer alone."""
    console = make_console(stream)
    if not quiet:
        console.print(Text(_head(document)))
        if any(each.effect for each in document.settings):
            rows = [
                (
                    each.name,
                    each.levels[0],
                    each.levels[-1],
                    "" if each.effect is None else effect_text(each.effect),
                )
                for each in document.settings
            ]
            effect = f"Effect on {NAMES.get(document.figure, document.figure)}"
            headings = (*HEADINGS, effect)
            console.print(Columns(headings, rows, left=len(headings)))
        for each in document.interactions:
            pair = " with ".join(each.settings)
            console.print(Text(f"{pair}: {100 * (each.effect - 1):+.1f} %"))
        for candidate in document.raced[:SHOWN]:
            if candidate.ratio is not None:
                given = ", ".join(f"{name}={level}" for name, level in candidate.settings.items())
                console.print(Text(f"raced: {given}: {100 * (candidate.ratio - 1):+.1f} %"))
        console.print()
    console.print(Text(document.answer.reason, style="bold"))
    if quiet:
        return
    for line in (*lines, *document.answer.notes):
        console.print(Text(f"- {line}"))


def _head(document: Tuning) -> str:
    name = NAMES.get(document.figure, document.figure)
    other = "time" if document.figure in {"memory", "idle"} else "peak memory"
    cap = (
        ""
        if document.cap is None
        else (f", with at most {percent_text(round(document.cap - 1, 6))} more {other}")
    )
    return (
        f"{document.allocator}: least {name}{cap}. {document.runs} runs for a grid of "
        f"{document.grid:,} combinations"
    )


def effect_text(effect: Ratio) -> str:
    """Such as "-4.1 % (-5.0 to -3.2)"."""
    change = 100 * (effect.ratio - 1)
    if effect.low is None or effect.high is None:
        return f"{change:+.1f} %"
    return f"{change:+.1f} % ({100 * (effect.low - 1):+.1f} to {100 * (effect.high - 1):+.1f})"
