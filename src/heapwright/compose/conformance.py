# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The conformance suite, run on a library before it is installed.

Each case is a process of its own, with only the library preloaded. So a case that crashes or hangs
is a case that fails. After the first that hangs no other is begun.
"""

import os
import signal
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from heapwright.base.errors import HeapwrightError
from heapwright.compose.processes import Processes

SKIPPED = 77
CASE_LIMIT_S = 60.0
FOREIGN = ("LD_", "MALLOC_", "GLIBC_")
AT_ONCE = 4

Progress = Callable[[int, int], None]
"""Called with the number of finished cases and the number of all cases."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A case that a library does not pass."""

    case: str
    what: str
    """What the case demands."""
    why: str
    by_machine: bool = False
    """It was over its limit or killed by SIGKILL, so a busy or full machine may be the reason."""


@dataclass(frozen=True, slots=True)
class Verdict:
    passed: int
    skipped: int
    failed: tuple[Failed, ...]
    left_out: int = 0
    """Not begun, because another hung."""


class Conformance:
    """The suite, for one library."""

    def __init__(
        self,
        program: Path,
        preload: str,
        environment: Mapping[str, str],
        limit_s: float = CASE_LIMIT_S,
    ) -> None:
        """`preload` is the library as the loader reads it."""
        plain = {key: text for key, text in environment.items() if not key.startswith(FOREIGN)}
        self._program = program
        self._plain = plain
        self._environment = plain | {"LD_PRELOAD": preload}
        self._limit_s = limit_s
        self._processes = Processes()
        self._hung = Event()

    def cases(self) -> list[tuple[str, str]]:
        """The names of the cases and what each demands."""
        try:
            done = self._processes.run([self._program, "--list"], self._limit_s, self._plain)
        except OSError as error:
            raise HeapwrightError(f"{self._program} cannot be run: {error.strerror}") from error
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        if done.status != 0 or not rows or any(len(row) != 3 for row in rows):
            raise HeapwrightError(f"{self._program} lists no cases", "build and install again")
        return [(name, what) for name, _, what in sorted(rows)]

    def run(self, progress: Progress) -> Verdict:
        """Run all cases."""
        cases = self.cases()
        failed: list[Failed] = []
        passed = skipped = done = left_out = 0
        pool = ThreadPoolExecutor(max(1, min(AT_ONCE, len(os.sched_getaffinity(0)))))
        try:
            futures = [pool.submit(self._run, *case) for case in cases]
            for future in as_completed(futures):
                outcome = future.result()
                if outcome is None:
                    left_out += 1
                    continue
                if isinstance(outcome, Failed):
                    failed.append(outcome)
                else:
                    passed += outcome == 0
                    skipped += outcome == SKIPPED
                done += 1
                progress(done, len(cases))
        except BaseException:  # an interrupt: nothing may go on
            self._processes.end()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
        failed.sort(key=lambda each: each.case)
        return Verdict(passed, skipped, tuple(failed), left_out)

    def _run(self, case: str, what: str) -> Failed | int | None:
        """How the case ended; None if it was not begun."""
        if self._hung.is_set():
            return None
        done = self._processes.run([self._program, case], self._limit_s, self._environment)
        if done.status is None:
            self._hung.set()
            return Failed(
                case, what, f"not over in {self._limit_s:g} s", is_of_machine(done.status)
            )
        if done.status in (0, SKIPPED):
            return done.status
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        why = said[0].removeprefix("fail: ") if said else ""
        if done.status < 0:
            name = signal.Signals(-done.status).name
            why = f"killed by {name}{f': {why}' if why else ''}"
        return Failed(case, what, why or f"exit status {done.status}", is_of_machine(done.status))


def is_of_machine(status: int | None) -> bool:
    """Whether a process was over its limit or killed by SIGKILL."""
    return status is None or status == -signal.SIGKILL
