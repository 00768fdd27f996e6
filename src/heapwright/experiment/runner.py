# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a command once under heapwright-run and returns its measurements.

heapwright-run starts the command, so this process does not affect the measurement, for example the
peak of memory. It runs in a session of its own. A Ctrl-C on the terminal reaches only this process.
It forwards the signal and collects the result of the finished part.
"""

import contextlib
import os
import secrets
import select
import signal
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Self
from weakref import finalize

from pydantic import BaseModel, ConfigDict, ValidationError

from heapwright.artefacts.run.measured import ProcessRecord
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.base.interruption import until_readable
from heapwright.experiment.interposition import CpuBalance
from heapwright.experiment.starter import starter

PRELOAD = "LD_PRELOAD"
IN_MEMORY = "/dev/shm"
RESULT = 2
"""The descriptor of heapwright-run's result. Without a result, its error is written there."""
LAST = b"}\n"
"""The end of a result, which is one line. It is read while heapwright-run ends."""
_TOKEN = secrets.token_hex(8)
_NUMBERS = count(1)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One run: the command, its whole environment, its limits and its streams."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    timeout_s: float | None = None
    grace_s: float = 5.0
    cwd: Path | None = None
    stdin: Path | None = None
    stdout: Path | None = None
    cpus: str | None = None
    counters: bool = False
    interval_ms: float = 10.0
    witnessed: bool = True

    def printing_to(self, file: Path) -> "RunSpec":
        """The same, with its standard output in a file."""
        return replace(self, stdout=file)


class RawRun(BaseModel):
    """The report of heapwright-run; native/runner/README.md describes its fields.

    Only the first group is always present. A command that could not be started has no times.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    exit_status: int | None
    signal: int | None
    timed_out: bool
    interrupted: bool
    spawn_error: str | None
    stderr_tail: str
    oom_kills: int
    load_before: float
    runnable_before: int
    steal_s: float
    harness_cpu_s: float

    wall_s: float | None = None
    user_s: float | None = None
    sys_s: float | None = None
    peak_rss_bytes: int | None = None
    peak_rss_method: str = ""
    minor_faults: int | None = None
    major_faults: int | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    counters: dict[str, float] = {}
    rss_series: list[tuple[float, int]] = []
    processes: list[ProcessRecord] = []
    unaccounted_cpu_s: float = 0.0
    teardown_allowance_s: float = 0.0
    leftover_processes: int = 0
    unrecorded_processes: int = 0

    @property
    def balance(self) -> CpuBalance:
        """The CPU time of the whole tree, for the proof of the preload."""
        return CpuBalance(
            total_s=(self.user_s or 0.0) + (self.sys_s or 0.0),
            unaccounted_s=self.unaccounted_cpu_s,
            allowance_s=self.teardown_allowance_s,
            unrecorded_processes=self.unrecorded_processes,
        )


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C came while the command ran. The command was ended, and `partial` has its
    measurements."""

    def __init__(self, partial: RawRun) -> None:
        super().__init__()
        self.partial = partial


def with_preload(environment: Mapping[str, str], *libraries: str) -> dict[str, str]:
    """The environment with these libraries in LD_PRELOAD, in this order, before the existing ones.

    Name the allocator first and the witness after it: the first one that defines malloc wins. The
    loader must be able to read the names (`PreloadPaths.of`).
    """
    merged = dict(environment)
    names = [*libraries, *([merged[PRELOAD]] if merged.get(PRELOAD) else [])]
    if names:
        merged[PRELOAD] = ":".join(names)
    return merged


def run_once(spec: RunSpec) -> RawRun:
    """Run the command to its end.

    Raises RunInterrupted on Ctrl-C, and HeapwrightError if the harness itself fails.
    """
    with Running(spec) as running:
        return running.finish()


class Running:
    """A command that runs under heapwright-run; a context manager that ends all its processes."""

    def __init__(self, spec: RunSpec) -> None:
        """Start it. Raises HeapwrightError if heapwright-run cannot be started."""
        program = _program(native.native_dir())
        self._witness = witness_file() if spec.witnessed else None
        # A signal may end this process before `with` has this object.
        self._at_last = finalize(self, _remove, self._witness, os.getpid())
        self._reading, writing = os.pipe()
        self.began = monotonic()
        try:
            words = _arguments(spec, program, self._witness)
            self._pid = starter(program).start(words, spec.environment, writing)
            self._handle = _handle_of(self._pid)
        except BaseException:
            os.close(self._reading)
            self._at_last()
            raise
        finally:
            os.close(writing)

    @property
    def pid(self) -> int:
        """Process number of heapwright-run. Its children are the command and orphans of the
        command."""
        return self._pid

    def finish(self) -> RawRun:
        """Wait for its end. Raises RunInterrupted on Ctrl-C."""
        text, interrupted = self._collect()
        if interrupted and not text:
            raise KeyboardInterrupt  # it came before the runner handled signals: there is no result
        run = _parsed(text)
        if interrupted:
            raise RunInterrupted(run)
        return run

    def is_over(self, within_s: float = 0.0) -> bool:
        """Whether it ended by itself, so that its result is being written. Waits at most this
        long."""
        poll = select.poll()
        poll.register(self._reading, select.POLLIN)
        return bool(poll.poll(within_s * 1000))

    def stop(self) -> RawRun:
        """End it and all its descendants; return the measurements so far."""
        self._signal(signal.SIGTERM)
        return self.finish()

    def leave(self, within_s: float) -> None:
        """End it without a result. Request the end, and kill it after `within_s` seconds."""
        if not self.is_over():
            self._signal(signal.SIGTERM)
            if not self.is_over(within_s):
                self._signal(signal.SIGTERM)  # a second signal kills

    def _collect(self) -> tuple[bytes, bool]:
        """The result, or any other output. Each Ctrl-C meanwhile is forwarded and remembered.

        The wait and the read are separate, so a Ctrl-C does not lose data.
        """
        text = bytearray()
        interrupted = False
        while True:
            try:
                until_readable(self._reading)
                piece = os.read(self._reading, 1 << 20)
                text += piece
                if not piece or text.endswith(LAST):
                    return bytes(text), interrupted
            except KeyboardInterrupt:
                interrupted = True
                self._signal(signal.SIGINT)

    def _signal(self, number: signal.Signals) -> None:
        if self._handle is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, number)

    def _await_end(self) -> None:
        """Wait for the end of heapwright-run and of all its descendants."""
        if self._handle is not None:
            until_readable(self._handle)
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(
            self._reading
        )  # if this process ends early, heapwright-run notices it and ends the command
        self._await_end()
        self._at_last()


def _remove(witness: str | None, maker: int) -> None:
    """Removes the witnesses' file, if it was made. A fork of its maker leaves it."""
    if witness is not None and maker == os.getpid():
        with contextlib.suppress(FileNotFoundError):
            os.unlink(witness)  # noqa: PTH108 - in every run


def _handle_of(pid: int) -> int | None:
    """A handle to signal and await a process; None if it has ended."""
    with contextlib.suppress(ProcessLookupError):
        return os.pidfd_open(pid)
    return None


def witness_file() -> str:
    """A name that no other user can guess, for the witnesses' file.

    In memory if possible, to avoid disk writes. There is no separate folder, because it would cost
    three calls for each run.
    """
    return f"{_place()}/heapwright-{_TOKEN}-{os.getpid()}-{next(_NUMBERS)}"


@cache
def _program(_folder: Path) -> Path:
    return native.program("run")


@cache
def _place() -> str:
    return IN_MEMORY if os.access(IN_MEMORY, os.W_OK | os.X_OK) else tempfile.gettempdir()


def _arguments(spec: RunSpec, program: Path, witness: str | None) -> list[str]:
    options: list[tuple[str, object]] = [
        ("--result-fd", RESULT),
        ("--grace", spec.grace_s),
        ("--interval-ms", spec.interval_ms),
    ]
    optional = [
        ("--witness", witness),
        ("--timeout", spec.timeout_s),
        ("--cwd", spec.cwd or Path.cwd()),
        ("--stdin", spec.stdin),
        ("--stdout", spec.stdout),
        ("--cpus", spec.cpus),
    ]
    options += [(name, value) for name, value in optional if value is not None]
    flags = ["--counters"] if spec.counters else []
    words = [str(word) for option in options for word in option]
    return [str(program), *words, *flags, "--", *spec.command]


def _parsed(text: bytes) -> RawRun:
    try:
        return RawRun.model_validate_json(text)
    except ValidationError as error:
        words = text.decode(errors="replace").strip().splitlines()
        reason = words[0] if words else "it ended without a result"
        raise HeapwrightError(f"the measuring program failed: {reason}") from error
