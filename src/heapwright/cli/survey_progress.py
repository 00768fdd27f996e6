# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How far a survey is: live on a terminal, a line now and then elsewhere, on standard error."""

from time import monotonic
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from heapwright.cli.progress import LINE_EVERY_S, duration
from heapwright.experiment.taxonomy.survey import Task


class SurveyDisplay:
    """Tells how far a survey is; give `watch` to it."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._console = Console(stderr=True, highlight=False)
        self._begun = self._last_line = monotonic()
        self._progress: Progress | None = None
        if self._console.is_terminal and not quiet:
            self._progress = Progress(
                BarColumn(bar_width=20),
                MofNCompleteColumn(),
                TextColumn("{task.description}", markup=False),
                console=self._console,
                transient=True,
                refresh_per_second=1,
            )
            self._task = self._progress.add_task("starting")

    def watch(self, task: Task, done: int, planned: int) -> None:
        words = f"{task.trial.workload} under {task.allocator}"
        if self._progress is not None:
            self._progress.update(self._task, completed=done, total=planned, description=words)
        elif not self._quiet and monotonic() - self._last_line >= LINE_EVERY_S:
            self._last_line = monotonic()
            self._console.print(
                f"run {done + 1} of {planned}, {words}; "
                f"{duration(monotonic() - self._begun)} so far",
                markup=False,
                soft_wrap=True,
            )

    def __enter__(self) -> Self:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.stop()
