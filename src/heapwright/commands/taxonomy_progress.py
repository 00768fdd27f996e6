# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How far a survey is: live on a terminal, a line now and then elsewhere, on standard error."""

from time import monotonic

from heapwright.commands.progress import BarDisplay, duration
from heapwright.experiment.taxonomy.survey import Task


class SurveyDisplay(BarDisplay):
    """Tells how far a survey is; give `watch` to it."""

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
