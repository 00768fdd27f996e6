# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Runs tools to their end, with a time limit. All processes that they started end with them.

Each has a process group of its own, so a Ctrl-C reaches only heapwright, which ends them all.
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock


@dataclass(frozen=True, slots=True)
class Finished:
    """How a process ended; `status` is None if it was over the limit, negative for a signal."""

    status: int | None
    stdout: str
    stderr: str


class Processes:
    """Those that run now; safe to use from several threads."""

    def __init__(self) -> None:
        self._running: set[int] = set()
        self._over = False
        self._lock = Lock()

    def run(
        self,
        command: Sequence[str | Path],
        limit_s: float,
        environment: Mapping[str, str] | None = None,
    ) -> Finished:
        """Run a command to its end. Raises OSError if it cannot be started."""
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=None if environment is None else dict(environment),
            process_group=0,
        ) as process:
            self._begin(process.pid)
            try:
                stdout, stderr = process.communicate(timeout=limit_s)
            except subprocess.TimeoutExpired:
                _kill(process.pid)
                stdout, stderr = process.communicate()
                return Finished(None, stdout, stderr)
            except BaseException:
                _kill(process.pid)
                raise
            finally:
                with self._lock:
                    self._running.discard(process.pid)
        return Finished(process.returncode, stdout, stderr)

    def end(self) -> None:
        """End all that run, and all that would be started from now on."""
        with self._lock:
            self._over = True
            for group in self._running:
                _kill(group)

    def _begin(self, group: int) -> None:
        with self._lock:
            self._running.add(group)
            if self._over:
                _kill(group)


def run(
    command: Sequence[str | Path], limit_s: float, environment: Mapping[str, str] | None = None
) -> Finished:
    """Run one command to its end. Raises OSError if it cannot be started."""
    return Processes().run(command, limit_s, environment)


def _kill(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
