# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Run a program of the distribution under one allocator, and prove that it was under it.

A run goes through heapwright-run with the witness preloaded behind the allocator, so every process
of it says which object gave it malloc. `Under(GLIBC)` runs the same thing on the C library, to get
the answer that the others have to give.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import pytest

from heapwright.base import native

GLIBC = "glibc"
TIMEOUT_S = 300
# What in the tester's environment could change an answer; the tests set what they need.
FOREIGN = ("LD_", "PYTHON", "PERL", "NODE_", "GIT_", "XZ_", "TAR_", "MALLOC_", "GLIBC_", "HEAPWR")


def needed(program: str, package: str) -> str:
    """The path of a program of the distribution, or a skip that names its package."""
    # Not from PATH: what is found there may be another build, or a script that calls one.
    path = shutil.which(program, path="/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin")
    if path is None:
        pytest.skip(f"{program} is not installed (package {package})")
    return path


@dataclass(frozen=True)
class Process:
    """One program image of a run, and the object that gave it malloc (None: it never said)."""

    exe: str
    parent: int
    provider: str | None
    libc: bool


@dataclass(frozen=True)
class Finished:
    """A run that came to its end; `output` is what it wrote to standard output."""

    output: bytes
    errors: str
    processes: tuple[Process, ...]


@dataclass(frozen=True)
class Launched:
    """A command that runs below heapwright-run."""

    command: Sequence[str | Path]
    runner: subprocess.Popen[bytes]
    report: TextIO
    output: Path

    def pid(self) -> int | None:
        """The command's own process, while it lives."""
        below = Path(f"/proc/{self.runner.pid}/task/{self.runner.pid}/children")
        return next((int(pid) for pid in below.read_text(encoding="ascii").split()), None)


class Under:
    """Programs under the allocator `name`."""

    def __init__(self, name: str, home: Path):
        self.name = name
        self.home = home
        self.library = None if name == GLIBC else native.library(name)
        self._runs = 0

    def __repr__(self) -> str:
        return f"Under({self.name!r})"

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """A plain environment with the allocator preloaded first, the witness behind it."""
        plain = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
        plain |= {"HOME": str(self.home), "TMPDIR": str(self.home)}
        plain |= {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
        preloaded = [p for p in (self.library, native.witness()) if p is not None]
        plain["LD_PRELOAD"] = ":".join(map(str, preloaded))
        return plain | dict(extra or {})

    def run(
        self,
        command: Sequence[str | Path],
        *,
        cwd: Path | None = None,
        extra: Mapping[str, str] | None = None,
        wild: bool = False,
    ) -> Finished:
        """Run to a good end. Fails unless the command ends with status 0, leaves nothing running,
        and had malloc from the given library in all its processes. A `wild` one starts processes
        with an environment of their own and leaves some behind: only the command itself is held to
        it.
        """
        with self.launch(command, cwd=cwd, extra=extra) as launched:
            return self.settle(launched, wild=wild)

    @contextmanager
    def launch(
        self,
        command: Sequence[str | Path],
        *,
        cwd: Path | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> Iterator[Launched]:
        """The command, running. The rest of it is ended at the end of the block."""
        self._runs += 1
        base = self.home / f"run-{self.name}-{self._runs}"
        output, record = base.with_suffix(".out"), base.with_suffix(".witness")
        reading, writing = os.pipe()
        with os.fdopen(reading, encoding="utf-8") as report:
            try:
                runner = subprocess.Popen(
                    [
                        *(native.program("run"), "--result-fd", str(writing)),
                        *("--timeout", str(TIMEOUT_S), "--interval-ms", "1000"),
                        *("--cwd", cwd or self.home, "--stdout", output, "--witness", record),
                        *("--", *command),
                    ],
                    env=self.environment(extra),
                    pass_fds=[writing],
                    stderr=subprocess.DEVNULL,  # its last lines are in the report
                )
            finally:
                os.close(writing)
            with runner:
                try:
                    yield Launched(command, runner, report, output)
                finally:
                    runner.terminate()  # ends the whole tree; nothing when all is over

    def settle(
        self, launched: Launched, *, wild: bool = False, signal: int | None = None
    ) -> Finished:
        """Wait for the end; fails unless it is a good one, or the one by `signal`."""
        result = json.load(launched.report)
        errors = result["stderr_tail"]
        ending = {k: result[k] for k in ("exit_status", "signal", "timed_out", "spawn_error")}
        good = {"exit_status": 0, "signal": None, "timed_out": False, "spawn_error": None}
        if signal is not None:
            good |= {"exit_status": None, "signal": signal}
        written = launched.output.read_bytes()
        said = f"{written.decode(errors='replace')[-4000:]}\n{errors}"
        assert ending == good, f"{launched.command}:\n{said}"
        assert wild or result["leftover_processes"] == 0, f"processes left running:\n{said}"
        processes = tuple(
            Process(p["exe"], p["ppid"], p["provider"], p["provider_is_libc"])
            for p in result["processes"]
        )
        proven = [process for process in processes if self._gave_malloc(process)]
        unproven = [process for process in processes if process not in proven]
        own = [process for process in proven if process.parent == launched.runner.pid]
        assert own, f"not in effect: {unproven}"
        assert wild or not unproven, f"not in effect everywhere: {unproven}"
        return Finished(written, errors, processes)

    def _gave_malloc(self, process: Process) -> bool:
        if self.library is None:
            return process.libc
        return process.provider is not None and Path(process.provider).samefile(self.library)
