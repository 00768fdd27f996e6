# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The progress of a survey on standard error: live on a terminal, else a line now and then."""

from time import monotonic

from heapwright.commands.progress import BarDisplay, duration
from heapwright.experiment.taxonomy.survey import Task


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
