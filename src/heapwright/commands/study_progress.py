# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The progress of a study on standard error: live on a terminal, else a line now and then.

The remaining time is estimated from the runs of this session. A treatment that was given up has no
runs left.
"""

from collections.abc import Collection

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.study_results.runs import StudyRun
from heapwright.commands.progress import BarDisplay, duration
from heapwright.experiment.blocks import Assignment, Blocks


class StudyDisplay(BarDisplay):
    """Shows the progress of a study. Pass `begins` and `over` to the engine."""

    def __init__(self, schedule: Blocks, made: Collection[object], *, quiet: bool = False) -> None:
        plan = schedule.plan
        self._planned = len(plan.treatments) * (plan.blocks + plan.warmup)
        super().__init__(quiet=quiet, total=self._planned)
        self._schedule = schedule
        self._before = len(made)
        self._runs = 0
        self._bad = 0

    def begins(self, assignment: Assignment) -> None:
        if self._drawing is not None:
            self._drawing.update(
                self._task,
                completed=self._before + self._runs,
                total=self._planned,
                description=self._words(assignment),
            )

    def over(self, assignment: Assignment, run: StudyRun) -> None:
        self._runs += 1
        self._bad += run.outcome is not Outcome.OK
        if self._drawing is None:
            done = self._before + self._runs
            self._say(lambda: f"run {done:,} of {self._planned:,}, {self._words(assignment)}")

    def _words(self, assignment: Assignment) -> str:
        where = f"discarded block {assignment.block}" if assignment.warmup else ""
        parts = [where or f"block {assignment.block} of {self._schedule.plan.blocks}"]
        parts.append(" ".join(assignment.treatment.levels.values()))
        if self._runs:
            parts.append(f"{duration(self._remaining())} left")
        if self._bad:
            parts.append(f"{self._bad} bad")
        return " · ".join(parts)

    def _remaining(self) -> float:
        plan = self._schedule.plan
        lost = sum(plan.blocks - each.block for each in self._schedule.given_up)
        left = self._planned - self._before - self._runs - lost
        seconds = max(left, 0) * self._schedule.spent_s / self._runs
        if plan.budget_s is not None:
            seconds = min(seconds, plan.budget_s - self._schedule.spent_s)
        return max(seconds, 0.0)
