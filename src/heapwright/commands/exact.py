# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Progress of exact counts: announces their cost before the first counted run."""

from typing import Protocol

from heapwright.artefacts.run.measured import Run
from heapwright.commands.progress import duration
from heapwright.experiment.blocks import Assignment
from heapwright.experiment.comparison import Plan
from heapwright.experiment.simulation import SLOWDOWN


class Watching(Protocol):
    """A display."""

    def announce(self, line: str) -> None: ...

    def watch(self, assignment: Assignment, run: Run | None) -> None: ...


class CostWatch:
    """Forwards events to a display. Pass `watch` to the engine."""

    def __init__(self, plan: Plan, display: Watching) -> None:
        self._plan = plan
        self._display = display
        self._plain_s = 0.0
        self._announced = False

    def watch(self, assignment: Assignment, run: Run | None) -> None:
        """Handle the start or the end of a run."""
        if run is not None and assignment.warmup:
            self._plain_s += run.wall_s or 0.0
        if run is None and not assignment.warmup and not self._announced:
            self._announced = True
            self._display.announce(self.cost())
        self._display.watch(assignment, run)

    def cost(self) -> str:
        """The number of counted runs, and how long they probably take."""
        runs = self._plan.blocks * len(self._plan.treatments)
        seconds = self._plan.blocks * self._plain_s * SLOWDOWN
        return (
            f"--exact: {runs} runs under valgrind, which is about {SLOWDOWN:.0f} times slower than "
            f"a plain run: about {duration(seconds)} in all"
        )
