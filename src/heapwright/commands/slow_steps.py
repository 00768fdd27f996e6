# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Shows the present step of a slow verb on standard error.

A terminal shows the present step. Elsewhere each step that takes more than a second prints one
line.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from typing import Protocol

from rich.console import Console
from rich.markup import escape

LATE_S = 1.0


class ReportStep(Protocol):
    """Called with the step that begins, or with its progress, which only a terminal shows."""

    def __call__(self, step: str, how_far: str = "") -> None: ...


@contextmanager
def reporting_steps(*, quiet: bool = False) -> Iterator[ReportStep]:
    """Yields a function to call with each step that begins, such as `drawing the page`."""
    console = Console(stderr=True, highlight=False, quiet=quiet)
    if console.is_terminal and not quiet:
        with console.status("beginning") as status:
            yield lambda step, how_far="": status.update(escape(f"{step} {how_far}"))
    else:
        lines = _Lines(console)
        try:
            yield lines.begin
        finally:
            lines.end()


class _Lines:
    """Prints the present step once it has taken long."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._printed: set[str] = set()
        self._step = ""
        self._lock = Lock()
        self._timer: Timer | None = None

    def begin(self, step: str, how_far: str = "") -> None:
        del how_far
        if step == self._step:
            return
        self.end()
        self._step = step
        self._timer = Timer(LATE_S, self._print, [step])
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        """The step is over; it is not printed after this."""
        with self._lock:
            self._step = ""
        if self._timer is not None:
            self._timer.cancel()

    def _print(self, step: str) -> None:
        with self._lock:
            if step == self._step and step not in self._printed:
                self._printed.add(step)
                self._console.print(f"heapwright: {step} …", markup=False, soft_wrap=True)
