# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Steps around the runs of a program: commands without a preload, not measured.

They run under heapwright-run like everything else. All processes of a step therefore end with it,
at its time limit, and at an interruption of heapwright.
"""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.experiment.measurement import text_in
from heapwright.experiment.outcome import signal_name
from heapwright.experiment.runner import RawRun, RunSpec, run_once

DISK_FULL = re.compile(r"No space left on device|Disk quota exceeded|disk is full|disk full", re.I)
NOTHING_LEFT = 1 << 20
LAST_LINES = 6
LAST_CHARACTERS = 1200


@dataclass(frozen=True, slots=True)
class Done:
    """How a step ended; `why` is empty after success."""

    why: str
    stdout: str
    stderr: str

    @property
    def good(self) -> bool:
        return not self.why

    @property
    def said(self) -> str:
        """The end of its output."""
        return last_lines(self.stderr) or last_lines(self.stdout)


def run_step(
    words: Sequence[str],
    environment: Mapping[str, str],
    cwd: Path,
    output: Path,
    timeout_s: float,
) -> Done:
    """Run it to its end, with its output in a temporary file. KeyboardInterrupt on Ctrl-C."""
    spec = RunSpec(
        command=tuple(words),
        environment=environment,
        timeout_s=timeout_s,
        cwd=cwd,
        stdout=output,
        interval_ms=1000.0,
        witnessed=False,
    )
    raw = run_once(spec)
    return Done(why_bad(raw, timeout_s), text_in(output), raw.stderr_tail)


def why_bad(raw: RawRun, timeout_s: float) -> str:
    """Why an end was bad; empty for a good one."""
    if raw.timed_out:
        return f"was not over after {timeout_s:g} s"
    if raw.spawn_error is not None:
        return f"could not be started: {raw.spawn_error}"
    if raw.signal is not None:
        return f"was killed by {signal_name(raw.signal)}"
    return f"ended with status {raw.exit_status}" if raw.exit_status else ""


def failure(what: str, words: Sequence[str], done: Done, folder: Path) -> HeapwrightError:
    """The error of a required step. A full disk is named as the cause."""
    said = done.said
    hint = "\n".join(f"| {line}" for line in said.splitlines())
    if is_disk_full(said, folder):
        return HeapwrightError(
            f"the disk is full: {what} could not be written in {folder}",
            hint,
            exit_code=ExitCode.NOT_WRITTEN,
        )
    return HeapwrightError(f"{what}: {shown(words)} {done.why}", hint)


def is_disk_full(said: str, folder: Path) -> bool:
    """Whether a failure is that of a disk with no room."""
    if DISK_FULL.search(said):
        return True
    try:
        return shutil.disk_usage(folder).free < NOTHING_LEFT
    except OSError:
        return False


def shown(words: Sequence[str]) -> str:
    """A command in an error: the line of a shell, or its first words."""
    text = words[2] if len(words) == 3 and words[1] == "-c" else " ".join(words)
    line = " ".join(text.split())
    return f"`{line[:77]}...`" if len(line) > 80 else f"`{line}`"


def last_lines(text: str) -> str:
    """The last lines that are not empty."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n".join(lines[-LAST_LINES:])[-LAST_CHARACTERS:]
