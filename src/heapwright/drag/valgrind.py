# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Drag of any program, from what valgrind's tracer sees of it.

heapwright-drag runs the command under the tracer and reads its log; the marks, a library of
heapwright, are preloaded. They report when a thread is inside the allocator, and with which object.
valgrind is only run, as any program is; nothing of it is linked.

The command inherits the streams, folder and terminal. An interrupt or a request to end ends the
command. The account up to then is reported.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from pydantic import BaseModel, ConfigDict, ValidationError

from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.base.interruption import ENDING, handled, read_to_end
from heapwright.drag.account import Account

LIBRARY = "drag-marks"
PROGRAM = "drag"
INSTALL = "apt-get install valgrind"


@dataclass(frozen=True, slots=True)
class Seen:
    """A command that was run to its end, or as far as it came."""

    report: "Report"
    account: Account


class Report(BaseModel):
    """How the command went, as heapwright-drag writes it; without a process, only the error."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    spawn_error: str | None = None
    limit: str | None = None
    exit_status: int | None = None
    signal: int | None = None
    seconds: float = 0.0
    trace_bytes: int = 0
    traced: bool = False
    """There was at least one instruction."""
    marked: bool = False
    """The marks were in the program and found themselves under valgrind."""
    replaced: bool = False
    """It became another program."""
    owner: str = ""
    """The file whose malloc precedes that of the marks."""
    words: str = ""
    children: int = 0
    threads: int = 0


def missing() -> str | None:
    """Why nothing can be watched here, in one sentence; None if it can."""
    if shutil.which("valgrind") is None:
        return "valgrind is not installed (package valgrind)"
    try:
        native.program(PROGRAM)
        native.library(LIBRARY)
    except native.NativeMissingError as error:
        return error.message
    return None


def watch(
    command: tuple[str, ...],
    preload: str,
    environment: Mapping[str, str],
    *,
    calls: int = 12,
    cwd: Path | None = None,
) -> Seen:
    """Run the command under valgrind. `preload` is LD_PRELOAD for it: the marks first, then what is
    its own; `calls` of a chain are kept.

    Raises HeapwrightError where nothing could be seen of it, and says why.
    """
    if reason := missing():
        raise HeapwrightError(
            f"nothing can be watched: {reason}",
            INSTALL if "valgrind is" in reason else "build and install again",
        )
    text, status = _answer(command, preload, environment, calls, cwd)
    try:
        report = Report.model_validate_json(text)
        if report.spawn_error:
            raise HeapwrightError(report.spawn_error, INSTALL)
        account = Account.model_validate_json(text)
    except ValidationError as error:
        raise HeapwrightError(f"the watching program failed: it left with {status}") from error
    _check(report, command)
    return Seen(report, account)


def _answer(
    command: tuple[str, ...],
    preload: str,
    environment: Mapping[str, str],
    calls: int,
    cwd: Path | None,
) -> tuple[bytes, int]:
    reading, writing = os.pipe()
    words = [str(native.program(PROGRAM)), "--result-fd", str(writing), "--calls", str(calls)]
    with os.fdopen(reading, "rb") as result:
        try:
            process = subprocess.Popen(
                [*words, "--", *command],
                env={**environment, "LD_PRELOAD": preload},
                cwd=cwd,
                pass_fds=[writing],
            )
        except OSError as error:
            raise HeapwrightError(f"{words[0]} cannot be run: {error.strerror or error}") from error
        finally:
            os.close(writing)
        with process, _ending(process):
            text = read_to_end(result.fileno())
            return text, process.wait()


@contextmanager
def _ending(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """A request to end is meant for the command. The watching program ends it and reports its
    account."""

    def pass_on(number: int, frame: FrameType | None) -> None:
        del number, frame
        process.send_signal(signal.SIGTERM)

    with handled(dict.fromkeys((signal.SIGINT, *ENDING), pass_on)):
        yield


def _check(report: Report, command: tuple[str, ...]) -> None:
    """Raise if nothing was seen."""
    name = command[0]
    if not report.traced:
        raise HeapwrightError(f"valgrind did not run {name}{_said(report)}")
    if report.owner:
        raise HeapwrightError(
            f"nothing of {name} can be seen: its malloc is that of {report.owner}, which stands "
            "before any library",
            "link it without that malloc, or rebuild it: heapwright drag --by instrumented",
        )
    if not report.marked and report.limit is None:
        raise HeapwrightError(
            f"nothing of {name} can be seen: no library can be preloaded into it{_said(report)}",
            "is it linked statically?",
        )


def _said(report: Report) -> str:
    """The last that valgrind itself said, if it is more than what it says of every command."""
    lines = [line.partition("== ")[2].strip() for line in report.words.splitlines()]
    lines = [line for line in lines if line.startswith("valgrind:")]
    return f": {lines[-1].removeprefix('valgrind:').strip()}" if lines else ""
