# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A survey with its progress on standard error: live on a terminal, else a line now and then."""

from time import monotonic

from heapwright.artefacts.run.journal import Journal
from heapwright.base.errors import HeapwrightError
from heapwright.commands.progress import BarDisplay, duration
from heapwright.experiment.taxonomy.execution import Execution
from heapwright.experiment.taxonomy.survey import SurveyPlan, SurveyResult, Task, run_survey


class SurveyDisplay(BarDisplay):
    """Shows the progress of a survey. Pass `watch` to it."""

    def watch(self, task: Task, done: int, planned: int) -> None:
        words = f"{task.trial.workload} under {task.allocator}"
        if self._drawing is not None:
            self._drawing.update(self._task, completed=done, total=planned, description=words)
        else:
            self._say(
                lambda: (
                    f"run {done + 1} of {planned}, {words}; "
                    f"{duration(monotonic() - self._begun)} so far"
                )
            )


def measure(
    plan: SurveyPlan, execution: Execution, journal: Journal, *, quiet: bool
) -> SurveyResult:
    """Run a survey and show its progress. The journal stays if there is a run to keep."""
    with SurveyDisplay(quiet=quiet) as display:
        try:
            return run_survey(plan, execution.execute, journal=journal, watch=display.watch)
        except HeapwrightError:  # raised only while there is no run to keep
            journal.discard()
            raise
