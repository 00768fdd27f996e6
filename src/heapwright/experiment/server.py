# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A server beside a run: started, awaited until it answers, ended with all its descendants.

It runs under heapwright-run like any command. Its memory and processes are therefore measured and
proven, and it is ended even when this process is killed. Its readiness is polled, at first every
few milliseconds. An answer before the start comes from another process and is an error. A server
that ends by itself, or never answers, is an outcome of the run.
"""

import contextlib
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from heapwright.artefacts.run.measured import Outcome
from heapwright.base.errors import HeapwrightError
from heapwright.experiment.interposition import Interposition
from heapwright.experiment.outcome import Classified, classify
from heapwright.experiment.runner import RawRun, Running, RunSpec

FIRST_PAUSE_S = 0.002
LONGEST_PAUSE_S = 0.1
QUESTION_S = 5.0
"""Limit of one readiness question."""
LEAVING_S = 2.0
"""Seconds that a server has to end if its usage is not needed: Ctrl-C, an error, a recording."""
LOCALHOST = "127.0.0.1"
OF_SERVER = (
    "user_s",
    "sys_s",
    "peak_rss_bytes",
    "peak_rss_method",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "counters",
    "rss_series",
    "processes",
    "unaccounted_cpu_s",
    "leftover_processes",
)
"""Fields of a run that come from the server, if the server is under the treatment."""


@dataclass(frozen=True, slots=True)
class Question:
    """The readiness question for a server; exactly one field is set."""

    command: tuple[str, ...] = ()
    port: int | None = None
    socket: Path | None = None
    path: Path | None = None

    def __str__(self) -> str:
        if self.command:
            return f"`{' '.join(self.command)}`"
        if self.port is not None:
            return f"port {self.port}"
        return str(self.socket or self.path)

    def answered(self, environment: Mapping[str, str], cwd: Path) -> bool:
        """Ask."""
        if self.command:
            return self._command_succeeds(environment, cwd)
        if self.port is not None:
            return _connects(lambda: socket.create_connection((LOCALHOST, self.port), QUESTION_S))
        if self.socket is not None:
            return _connects(lambda: _unix(cwd / (self.socket or "")))
        return self.path is not None and (cwd / self.path).exists()

    def _command_succeeds(self, environment: Mapping[str, str], cwd: Path) -> bool:
        try:
            done = subprocess.run(
                self.command,
                cwd=cwd,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=QUESTION_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
        except OSError as error:
            raise HeapwrightError(
                f"{self.command[0]}, which asks whether the server is ready, cannot be run: "
                f"{error.strerror or error}"
            ) from error
        return done.returncode == 0


def _connects(make: Callable[[], socket.socket]) -> bool:
    with contextlib.suppress(OSError):
        make().close()
        return True
    return False


def _unix(path: Path) -> socket.socket:
    """A connection to a socket in the file system."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(QUESTION_S)
        connection.connect(str(path))
    except BaseException:
        connection.close()
        raise
    return connection


def refuse_answered(question: Question, environment: Mapping[str, str], cwd: Path) -> None:
    """Refuse an answer before the server is started. Raises HeapwrightError."""
    if question.answered(environment, cwd):
        raise HeapwrightError(
            f"{question} answers before the server is started: something else is there",
            "end it, or let the server use another place",
        )


class Server:
    """A running server; a context manager that ends all its processes."""

    def __init__(
        self, spec: RunSpec, question: Question, patience_s: float, environment: Mapping[str, str]
    ) -> None:
        """Start the server. `environment` is for the readiness question. Raises HeapwrightError."""
        self._question = question
        self._patience_s = patience_s
        self._grace_s = spec.grace_s
        self._environment = environment
        self._cwd = spec.cwd or Path.cwd()
        refuse_answered(question, environment, self._cwd)
        self._early: tuple[RawRun, Classified] | None = None
        self._running = Running(spec)

    def await_ready(self) -> Classified | None:
        """Wait until it answers; return its outcome if it never will."""
        deadline = time.monotonic() + self._patience_s
        pause = FIRST_PAUSE_S
        while not self._question.answered(self._environment, self._cwd):
            if self._running.is_over():
                raw = self._running.finish()
                self._early = raw, _ended_early(raw, "before it answered")
                return self._early[1]
            if time.monotonic() > deadline:
                words = f"the server did not answer at {self._question} in {self._patience_s:g} s"
                return Classified(Outcome.TIMEOUT, words)
            time.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_S)
        return None

    @property
    def pid(self) -> int:
        """Process number of its starter. The server and its descendants are below it."""
        return self._running.pid

    def is_over(self, within_s: float = 0.0) -> bool:
        """Whether it ended by itself. Waits at most this long."""
        return self._running.is_over(within_s)

    def left(self) -> RawRun:
        """Its usage, after a stop that was requested without a signal."""
        return self._running.finish()

    def stop(self) -> tuple[RawRun, Classified | None]:
        """End it; return its usage up to this request, and how it ended if it did so by itself."""
        if self._early is not None:
            return self._early
        if self._running.is_over():
            raw = self._running.finish()
            return raw, _ended_early(raw, "while it was needed")
        asked = time.monotonic() - self._running.began
        raw = self._running.stop()
        waited = time.monotonic() - self._running.began - asked
        series = [point for point in raw.rss_series if point[0] <= asked]
        raw = raw.model_copy(update={"rss_series": series, "interrupted": False})
        if raw.signal == signal.SIGKILL and waited < self._grace_s:
            return raw, _ended_early(raw, "while it was needed")  # heapwright itself waits longer
        return raw, None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._running.leave(LEAVING_S)  # it may remove more than the folder of the run
        finally:
            self._running.__exit__(kind, value, trace)


def _ended_early(raw: RawRun, when: str) -> Classified:
    """Classify an unexpected end. It is bad even with a good exit status."""
    named = classify(raw, Interposition(True, 0.0))
    outcome = Outcome.FAILED if named.outcome is Outcome.OK else named.outcome
    how = named.detail or f"exit status {raw.exit_status}"
    return Classified(outcome, f"the server ended {when}: {how}")
