# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Records one command into one trace, by heapwright-record, and hands back how it went.

The command inherits the streams, folder and terminal. SIGTERM and SIGHUP are passed on to the
command, and so is SIGINT, unless a terminal sent it to the command as well. SIGUSR1 turns recording
off and on. Nothing that the recorder cannot do ends the command: a full disk ends the recording
alone.
"""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import BinaryIO, Literal, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from heapwright.artefacts.run.allocator_settings import allocator_settings
from heapwright.artefacts.run.foreign_heaps import settings_in
from heapwright.base import native
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.interruption import ENDING, handled, read_to_end
from heapwright.base.paths import TRACE_MAGIC

TERMINAL = "/dev/tty"
PASSED_ON = (*ENDING, signal.SIGUSR1)


IsOver = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class ServerLoad:
    """What is done while the command runs, which is a server: it is ended after that."""

    drive: Callable[[IsOver], None]
    patience_s: float
    """Seconds to end after a signal; then it is killed."""


@dataclass(frozen=True, slots=True)
class HowToRecord:
    """The options of a recording."""

    stacks: bool = False
    sample: int = 1
    follow: bool = False
    paused: bool = False
    system: bool = True
    limit: int | None = None
    control: Path | None = None
    toggle_signal: int | None = None
    mark_signal: int | None = None
    bound: bool = True
    """It ends if this process is killed, because nothing would read the trace."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be recorded, and how.

    `preload` is LD_PRELOAD for the command: the recorder first, then what is its own.
    """

    command: tuple[str, ...]
    trace: Path
    preload: str
    environment: Mapping[str, str]
    how: HowToRecord = field(default_factory=HowToRecord)
    salt: int = 0
    witness: Path | None = None
    """Where the processes report the provider of malloc; `preload` then has the witness."""
    cwd: Path | None = None
    stdin: Path | None = None
    """None: inherited, like the output."""
    stdout: Path | None = None
    beside: ServerLoad | None = None


class Outcome(BaseModel):
    """How the command ended, and what is in the trace."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    exit_status: int
    """-1 if it did not end by exit."""
    signal: int
    """0 if it did not end by a signal."""
    spawn_error: int
    seconds: float
    events: int
    bytes: int
    threads: int
    processes: int
    unfollowed: int
    """Processes that it started and that were not recorded."""
    lost: int
    """Calls that came from a signal handler in the middle of a record."""
    stop: Literal["none", "disk-full", "limit", "failed"]
    failed: bool = False
    """Of a program with a file: the conditions of the file were not met, at any exit status."""
    asked_to_end: bool = False
    """The end was requested by the terminal or by a SIGTERM."""

    @property
    def status(self) -> int:
        """As a shell has it."""
        return 128 + self.signal if self.signal else self.exit_status


def record(request: Request) -> Outcome:
    """Run the command to its end. Raises HeapwrightError if it cannot be started or recorded."""
    refuse_others_file(request.trace)
    program = native.program("record")
    reading, writing = os.pipe()
    with (
        os.fdopen(reading, "rb") as result,
        _removed(request.witness),
        _passing_on(driven=request.beside is not None) as passing,
    ):
        try:
            if passing.asked:
                raise KeyboardInterrupt
            with _streams(request) as (stdin, stdout):
                process = subprocess.Popen(
                    _words(request, program, writing),
                    env=dict(request.environment),
                    cwd=request.cwd,
                    pass_fds=[writing],
                    stdin=stdin,
                    stdout=stdout,
                )
        except OSError as error:
            raise HeapwrightError(f"{program} cannot be run: {error.strerror or error}") from error
        finally:
            os.close(writing)
        with process:
            passing.to(process)
            if request.beside is not None:
                _stand_by(process, request.beside)
            text = read_to_end(result.fileno())
            status = process.wait()
        if passing.asked and not text:  # the signal ended the recorder before the command began
            raise KeyboardInterrupt
    return _parsed(text, status, request).model_copy(update={"asked_to_end": passing.asked})


@contextmanager
def _removed(file: Path | None) -> Iterator[None]:
    """Removes the witnesses' file at the end, should the recording program not do it."""
    try:
        yield
    finally:
        if file is not None:
            file.unlink(missing_ok=True)


@contextmanager
def _streams(request: Request) -> Iterator[tuple[BinaryIO | None, BinaryIO | None]]:
    """The files of the command's input and output. None: inherited."""
    with ExitStack() as stack:
        opened = [
            None if path is None else stack.enter_context(path.open(mode))
            for path, mode in ((request.stdin, "rb"), (request.stdout, "wb"))
        ]
        yield cast(BinaryIO | None, opened[0]), cast(BinaryIO | None, opened[1])


def _stand_by(process: subprocess.Popen[bytes], beside: ServerLoad) -> None:
    """Do what is to be done beside the command; then end it, however that went."""
    try:
        beside.drive(lambda: process.poll() is not None)
    finally:
        if process.poll() is None:
            process.terminate()  # which is passed on
        try:
            process.wait(beside.patience_s)
        except subprocess.TimeoutExpired:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            for child in children.read_text(encoding="ascii").split():
                os.kill(int(child), signal.SIGKILL)


def _words(request: Request, program: Path, descriptor: int) -> list[str]:
    how, environment = request.how, request.environment
    settings = {**settings_in(environment), **allocator_settings(environment)}
    options: list[tuple[str, object]] = [
        ("--trace", request.trace.absolute()),
        ("--preload", request.preload),
        ("--result-fd", descriptor),
        ("--sample", how.sample),
        ("--salt", request.salt),
    ]
    optional = [
        ("--witness", request.witness),
        ("--settings", "\n".join(f"{name}={value}" for name, value in settings.items()) or None),
        ("--limit", how.limit),
        ("--control", None if how.control is None else how.control.absolute()),
        ("--toggle-signal", how.toggle_signal),
        ("--mark-signal", how.mark_signal),
    ]
    options += [(name, value) for name, value in optional if value is not None]
    flags = {
        "--stacks": how.stacks,
        "--follow-children": how.follow,
        "--paused": how.paused,
        "--no-system": not how.system,
        "--bound": how.bound,
    }
    words = [str(word) for option in options for word in option]
    words += [flag for flag, given in flags.items() if given]
    return [str(program), *words, "--", *request.command]


def refuse_others_file(path: Path) -> None:
    """A trace may be written anew; any other file that is not empty is refused."""
    try:
        if not path.exists():
            return
        if not path.is_file():
            raise HeapwrightError(f"{path} is no regular file", "name another one with -o")
        with path.open("rb") as file:
            start = file.read(len(TRACE_MAGIC))
    except OSError as error:
        raise HeapwrightError(
            f"{path} cannot be written: {error.strerror}", exit_code=ExitCode.NOT_WRITTEN
        ) from error
    if start and start != TRACE_MAGIC:
        raise HeapwrightError(f"{path} is there, and it is no trace", "name another one with -o")


class _Passing:
    """Passes signals on to the command. One that comes while the command starts is passed on after
    that. It must not end this process before the removal of what the start makes is certain. It may
    reach the recorder before the recorder is ready, and ends it then.

    An interrupt of the terminal is not passed on: the terminal sends it to the command as well. It
    ends a server, which runs for the recording alone.
    """

    def __init__(self, driven: bool) -> None:
        self.asked = False
        """A signal has requested the end."""
        self._driven = driven
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []

    def to(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        for number in self._early:
            process.send_signal(number)

    def pass_on(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.asked |= number != signal.SIGUSR1
        if self._process is None:
            self._early.append(number)
        else:
            self._process.send_signal(number)

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._driven:
            self.pass_on(signal.SIGTERM, frame)
        elif self._process is not None and _terminal_interrupts():
            self.asked = True
        else:
            self.pass_on(number, frame)


@contextmanager
def _passing_on(*, driven: bool) -> Iterator[_Passing]:
    """Meanwhile, signals are passed on to the command."""
    passing = _Passing(driven)
    with handled(dict.fromkeys(PASSED_ON, passing.pass_on) | {signal.SIGINT: passing.interrupt}):
        yield passing


def _terminal_interrupts() -> bool:
    """Whether this process is in the foreground of a terminal, where Ctrl-C reaches the command as
    well.
    """
    try:
        terminal = os.open(TERMINAL, os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _why(status: int) -> str:
    """What became of the recording program, which left no result."""
    if status < 0:
        return f"the recorder was ended by signal {-status}"
    return "the recorder could not make or write the file"


def _parsed(text: bytes, status: int, request: Request) -> Outcome:
    try:
        outcome = Outcome.model_validate_json(text)
    except ValidationError as error:
        raise HeapwrightError(
            f"{request.trace} could not be recorded: {_why(status)}",
            "" if request.trace.parent.is_dir() else f"there is no folder {request.trace.parent}",
            exit_code=ExitCode.NOT_WRITTEN,
        ) from error
    if outcome.spawn_error:
        reason = os.strerror(outcome.spawn_error)
        raise HeapwrightError(f"{request.command[0]} cannot be started: {reason}")
    return outcome
