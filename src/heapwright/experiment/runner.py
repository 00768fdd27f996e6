# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a command once under heapwright-run and hands back what that measured.

heapwright-run is the one that starts the command, so nothing of this process, not even the peak of
its memory, reaches what is measured. It runs in a session of its own: a Ctrl-C on the terminal
comes to us alone, we pass it on, and collect the result of the part that was run.
"""

import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from heapwright.artefacts import native
from heapwright.artefacts.errors import HeapwrightError
from heapwright.artefacts.runs import ProcessRecord
from heapwright.experiment.interposition import CpuBalance

PRELOAD = "LD_PRELOAD"
IN_MEMORY = Path("/dev/shm")


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


class RawRun(BaseModel):
    """What heapwright-run reports; its fields are described in harness/README.md.

    Only the first group is always there: a command that could not be started has no times.
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
    """Ctrl-C came while the command ran; it has been ended, and `partial` is what was measured."""

    def __init__(self, partial: RawRun) -> None:
        super().__init__()
        self.partial = partial


def with_preload(environment: Mapping[str, str], *libraries: str) -> dict[str, str]:
    """The environment with these libraries in LD_PRELOAD, in this order, before what was there.

    Name the allocator first and the witness after it: the first one that defines malloc wins. The
    names must be such as the loader can read (`PreloadPaths.of`).
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
    program = native.program("run")
    with tempfile.TemporaryDirectory(prefix="heapwright-", dir=_folder()) as folder:
        if os.geteuid() == 0:  # the command may become another user, who must find the file
            Path(folder).chmod(0o711)
        reading, writing = os.pipe()
        try:
            arguments = _arguments(spec, program, writing, Path(folder) / "witness")
            process = subprocess.Popen(
                arguments,
                env=dict(spec.environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=[writing],
                start_new_session=True,
            )
        except OSError as error:
            os.close(reading)
            raise HeapwrightError(f"{program} cannot be run: {error.strerror or error}") from error
        finally:
            os.close(writing)
        with process:
            try:
                text, interrupted = _collect(process, reading)
            finally:
                os.close(
                    reading
                )  # should we have to leave early: it sees that and ends the command
            _, complaint = process.communicate()
    if interrupted and not text and process.returncode == -signal.SIGINT:
        raise KeyboardInterrupt  # it came before the runner listened, so there is nothing to keep
    run = _parsed(text, process.returncode, complaint)
    if interrupted:
        raise RunInterrupted(run)
    return run


def _folder() -> Path | None:
    """Where the witnesses' file goes: into memory if that can be, so that no disk is written."""
    return IN_MEMORY if os.access(IN_MEMORY, os.W_OK | os.X_OK) else None


def _arguments(spec: RunSpec, program: Path, descriptor: int, witness: Path) -> list[str]:
    options: list[tuple[str, object]] = [
        ("--result-fd", descriptor),
        ("--witness", witness),
        ("--grace", spec.grace_s),
        ("--interval-ms", spec.interval_ms),
    ]
    optional = [
        ("--timeout", spec.timeout_s),
        ("--cwd", spec.cwd),
        ("--stdin", spec.stdin),
        ("--stdout", spec.stdout),
        ("--cpus", spec.cpus),
    ]
    options += [(name, value) for name, value in optional if value is not None]
    flags = ["--counters"] if spec.counters else []
    words = [str(word) for option in options for word in option]
    return [str(program), *words, *flags, "--", *spec.command]


def _collect(process: subprocess.Popen[bytes], descriptor: int) -> tuple[bytes, bool]:
    """All that comes from the descriptor; each Ctrl-C meanwhile is passed on and remembered.

    It waits in poll, not in read, so that a Ctrl-C while it waits loses nothing that was read.
    """
    text = bytearray()
    interrupted = False
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while True:
        try:
            poll.poll()
            piece = os.read(descriptor, 1 << 20)
            if not piece:
                return bytes(text), interrupted
            text += piece
        except KeyboardInterrupt:
            interrupted = True
            process.send_signal(signal.SIGINT)


def _parsed(text: bytes, status: int, complaint: bytes) -> RawRun:
    try:
        return RawRun.model_validate_json(text)
    except ValidationError as error:
        words = complaint.decode(errors="replace").strip().splitlines()
        reason = words[0] if words else f"it ended with {status} and {len(text)} bytes of result"
        raise HeapwrightError(f"the measuring program failed: {reason}") from error
