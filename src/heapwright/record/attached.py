# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Records a process that runs already, by heapwright-attach, and hands back how it went.

heapwright-attach loads the recorder into the process and removes it at the end. It also does so if
this process is killed, because its result then has no reader.
"""

import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.base.interruption import ENDING, handled, read_to_end
from heapwright.base.native_programs import Program, complaint
from heapwright.record.recorder import refuse_others_file

PROGRAM = "attach"
BEGUN = b"recording\n"
UNSAFE = 3
DENIED = 4
ENDED = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be recorded, and how."""

    pid: int
    trace: Path
    stacks: bool = False
    sample: int = 1
    salt: int = 0
    limit: int | None = None
    seconds: float | None = None
    """None: until a signal, or the end of the process."""
    system: bool = True


class Attached(BaseModel):
    """How the recording ended, and what is in the trace."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds: float
    events: int
    bytes: int
    threads: int
    unfollowed: int
    """Children that the process forked meanwhile, which were not recorded."""
    lost: int
    stop: Literal["none", "disk-full", "limit", "failed"]
    ending: Literal["time", "asked", "ended", "replaced", "stopped"]
    slots: int
    """Entries of import tables that led to the recorder meanwhile."""
    begin_ms: float
    """How long a thread was stopped to begin."""
    stop_ms: float
    """How long threads were stopped to end the recording."""
    left: str
    """Why the recorder is still loaded; empty if nothing is left in the process."""


class Cleared(BaseModel):
    """What was removed from a process."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cleared: bool
    """Whether there was anything."""
    left: str


class DeniedError(HeapwrightError):
    """The system does not permit to trace the process."""


def attach(asked: Asked, begun: Callable[[], None]) -> Attached:
    """Record the process until the time is over, a signal arrives, or it ends.

    Calls `begun` when the recorder is in the process. Raises DeniedError without the right to trace
    it, and HeapwrightError if recording it would be unsafe or failed.
    """
    refuse_others_file(asked.trace)
    with (
        subprocess.Popen(_words(asked), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process,
        _passing_on(process),
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stderr.readline()
        if first == BEGUN:
            begun()
        text = read_to_end(process.stdout.fileno())
        said = b"" if first == BEGUN else first
        said += process.stderr.read()
        status = process.wait()
    if status != 0:
        raise _failure(asked.pid, status, said)
    try:
        return Attached.model_validate_json(text)
    except ValidationError as error:
        raise HeapwrightError(
            f"{native.program(PROGRAM)} is not of this version of heapwright",
            "build and install again",
        ) from error


def clear(pid: int) -> Cleared:
    """Remove what a recording that was killed left in the process."""
    return Program(PROGRAM).answer(Cleared, ["--clear", str(pid)])


def _words(asked: Asked) -> list[str]:
    words = [str(native.program(PROGRAM)), "--trace", str(asked.trace)]
    words += ["--library", str(native.library("attached"))]
    words += ["--sample", str(asked.sample), "--salt", str(asked.salt)]
    words += [] if asked.limit is None else ["--limit", str(asked.limit)]
    words += [] if asked.seconds is None else ["--seconds", str(asked.seconds)]
    words += ["--stacks"] if asked.stacks else []
    words += [] if asked.system else ["--no-system"]
    return [*words, str(asked.pid)]


@contextmanager
def _passing_on(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    """A request to end goes to heapwright-attach, which then ends the recording."""

    def pass_on(_number: int, _frame: FrameType | None) -> None:
        process.send_signal(signal.SIGINT)

    with handled(dict.fromkeys((signal.SIGINT, *ENDING), pass_on)):
        yield


def _failure(pid: int, status: int, said: bytes) -> HeapwrightError:
    why = complaint(PROGRAM, status, said)
    if status == DENIED:
        return DeniedError(why)
    if status == UNSAFE:
        return HeapwrightError(f"process {pid} is not recorded: {why}", "it is unchanged")
    if status == ENDED:
        return HeapwrightError(why)
    return HeapwrightError(f"process {pid} is not recorded: {why}")
