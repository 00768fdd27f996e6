# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The progress of a comparison on standard error: live on a terminal, else a line now and then.

It is drawn at most once a second, because it runs on the measured machine. The remaining time is
that until the next analysis, estimated from the blocks so far.
"""

from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from heapwright.artefacts.comparison.document import label_of
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.experiment.blocks import Assignment

LINE_EVERY_S = 30.0


def duration(seconds: float) -> str:
    """A duration for readers: 40 s, 12 min, 3 h 05 min."""
    if seconds < 90:
        return f"{max(seconds, 0):.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


class Estimate:
    """Estimates the remaining time from the blocks so far."""

    def __init__(self, treatments: int, warmup: int) -> None:
        self._treatments = treatments
        self._warmup = warmup
        self._begun = monotonic()
        self._block_begun = self._begun
        self._block = 1 - warmup
        self._block_took: float | None = None

    def begin(self, block: int) -> None:
        """Record the start of a run of `block`."""
        if block != self._block:
            now = monotonic()
            self._block_took = now - self._block_begun
            self._block_begun = now
            self._block = block

    @property
    def elapsed(self) -> float:
        return monotonic() - self._begun

    def remaining(self, target: int, done_in_block: int) -> float | None:
        """Seconds to the end of block `target`; None without an estimate."""
        in_block = monotonic() - self._block_begun
        took = self._block_took
        if took is None:
            if not done_in_block:
                return None
            took = in_block * self._treatments / done_in_block
        return max(took - in_block, 0.0) + (target - self._block) * took

    def done(self, done_in_block: int) -> int:
        """Finished runs, including those that were left out."""
        return (self._block + self._warmup - 1) * self._treatments + done_in_block


class Drawing(Protocol):
    """A display that a terminal redraws in place."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


D = TypeVar("D", bound=Drawing)


class LiveDisplay(Generic[D]):
    """The progress of a long verb: a live display on a terminal, else a line now and then."""

    def __init__(
        self, draw: Callable[[Console], D], *, quiet: bool, console: Console | None = None
    ) -> None:
        self._quiet = quiet
        self._console = console or Console(stderr=True, highlight=False)
        self._begun = self._last_line = monotonic()
        self._drawing = draw(self._console) if self._console.is_terminal and not quiet else None

    def _is_due(self, every_s: float) -> bool:
        """Whether enough time has passed since the last output."""
        if self._quiet or monotonic() - self._last_line < every_s:
            return False
        self._last_line = monotonic()
        return True

    def _say(self, line: Callable[[], str]) -> None:
        """Print a line, unless one was printed a short time ago."""
        if self._is_due(LINE_EVERY_S):
            self._console.print(line(), markup=False, soft_wrap=True)

    def announce(self, line: str) -> None:
        """Print a line at once."""
        if not self._quiet:
            self._console.print(line, markup=False, soft_wrap=True)

    def __enter__(self) -> Self:
        if self._drawing is not None:
            self._drawing.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._drawing is not None:
            self._drawing.stop()


class BarDisplay(LiveDisplay[Progress]):
    """A bar on a terminal; `self._task` is what it counts."""

    _task: TaskID

    def __init__(self, *, quiet: bool, total: int | None = None) -> None:
        super().__init__(lambda console: self._bar(console, total), quiet=quiet)

    def _bar(self, console: Console, total: int | None) -> Progress:
        progress = Progress(
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
            refresh_per_second=1,
        )
        self._task = progress.add_task("starting", total=total)
        return progress


class Display(BarDisplay):
    """Shows the progress of a comparison. Pass `watch` to the engine."""

    def __init__(
        self,
        treatments: int,
        warmup: int,
        target: Callable[[int], int],
        *,
        adaptive: bool = False,
        quiet: bool = False,
    ) -> None:
        """`target` maps the present block to the block of the next analysis.

        Unless the repetition is `adaptive`, that is the last block.
        """
        super().__init__(quiet=quiet, total=(warmup + target(1 - warmup)) * treatments)
        self._adaptive = adaptive
        self._treatments = treatments
        self._warmup = warmup
        self._target = target
        self._estimate = Estimate(treatments, warmup)
        self._bad = 0

    def watch(self, assignment: Assignment, run: Run | None) -> None:
        self._estimate.begin(assignment.block)
        if run is not None and run.outcome is not Outcome.OK:
            self._bad += 1
        if self._drawing is not None:
            self._draw(self._drawing, assignment, run)
        elif run is not None:
            self._say(lambda: self._line(assignment))

    def _draw(self, progress: Progress, assignment: Assignment, run: Run | None) -> None:
        target = self._target(assignment.block)
        done = assignment.position - (run is None)
        parts = [self._where(assignment), label_of(*assignment.treatment.key)]
        remaining = self._estimate.remaining(target, done)
        if remaining is not None:
            parts.append(f"{duration(remaining)} {self._goal(target)}")
        if self._bad:
            parts.append(f"{self._bad} bad")
        progress.update(
            self._task,
            completed=self._estimate.done(done),
            total=(self._warmup + target) * self._treatments,
            description=" · ".join(parts),
        )

    def _line(self, assignment: Assignment) -> str:
        target = self._target(assignment.block)
        remaining = self._estimate.remaining(target, assignment.position) or 0.0
        bad = f", {self._bad} bad" if self._bad else ""
        return (
            f"{self._where(assignment)}, run {assignment.position} of {self._treatments}{bad}; "
            f"{duration(self._estimate.elapsed)} so far, "
            f"{duration(remaining)} {self._goal(target)}"
        )

    def _goal(self, target: int) -> str:
        return f"to the look after block {target}" if self._adaptive else "left"

    @staticmethod
    def _where(assignment: Assignment) -> str:
        return "warm-up" if assignment.warmup else f"block {assignment.block}"
