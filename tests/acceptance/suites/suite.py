# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a suite is, and one run of it under an allocator or on the malloc it has by itself.

A suite is prepared once in a folder (its sources come from the distribution and stay there). It
runs as a process tree of its own, and its output is read for failures. While it runs, the processes
of the tree are looked at: its program must have been seen with the allocator mapped.
"""

import contextlib
import os
import pwd
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from heapwright.base import native

# What in the tester's environment could change an answer.
FOREIGN = ("LD_", "PYTHON", "TCL", "GLIBC_", "MALLOC_", "HEAPWRIGHT_", "SQLITE", "REDIS", "VIRTUAL")


class MissingError(Exception):
    """What a suite needs is not there; the message names the package."""


@dataclass(frozen=True)
class Verdict:
    """What the output of a run says: which tests failed, and how many were run."""

    failed: frozenset[str]
    ran: int
    ended: bool


class Suite(Protocol):
    """One piece of software and its tests, or a part of them."""

    name: str
    program: str  # the name of the file that a process under the allocator has to run
    limit_s: int
    rootless: bool  # it will not run as root

    def prepare(self, folder: Path) -> None:
        """Fetches and builds what it needs, unless that was done."""
        ...

    def command(self, folder: Path, work: Path, only: Sequence[str]) -> list[str | Path]:
        """What runs the tests in the folder `work`; `only` those that failed, if any are named."""
        ...

    def environment(self) -> dict[str, str]: ...

    def where(self, folder: Path, work: Path) -> Path:
        """The folder to run in."""
        ...

    def read(self, output: str) -> Verdict: ...


@dataclass(frozen=True)
class Ran:
    """One run of a suite; `faults` are the failed tests, or that it did not come to its end."""

    suite: str
    allocator: str
    faults: frozenset[str]
    ran: int
    seconds: float
    output: str = field(repr=False)


def needed(program: str, package: str) -> Path:
    """The distribution's program of a name."""
    path = shutil.which(program, path="/usr/local/bin:/usr/bin:/bin")
    if path is None:
        raise MissingError(f"{program} is not installed (package {package})")
    return Path(path)


def run(suite: Suite, allocator: str | None, folder: Path, only: Sequence[str] = ()) -> Ran:
    """Runs a suite; without an allocator on what the program has by itself."""
    name = allocator or "its own malloc"
    work = folder / f"work-{suite.name}-{allocator or 'own'}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    user = _harmless(work) if suite.rootless and os.geteuid() == 0 else None
    plain = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
    plain |= {"HOME": str(work), "TMPDIR": str(work), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    plain |= {"PATH": "/usr/local/bin:/usr/bin:/bin"} | suite.environment()
    library = None
    if allocator is not None:
        library = native.library(allocator)
        plain["LD_PRELOAD"] = str(library)
    log = work / "output.log"
    began = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            suite.command(folder, work, only),
            cwd=suite.where(folder, work),
            env=plain,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=user,
        )
        seen = _Watched(process.pid, suite.program, library)
        try:
            status = process.wait(suite.limit_s)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            seen.end()
    text = log.read_text(encoding="utf-8", errors="replace")
    verdict = suite.read(text)
    faults = set(verdict.failed)
    if status is None:
        faults.add(f"(not finished after {suite.limit_s} s)")
    elif not verdict.ended:
        faults.add(f"(it did not come to its end: status {status})")
    if library is not None and not seen.proven:
        faults.add(f"(no {suite.program} was seen under {allocator})")
    return Ran(suite.name, name, frozenset(faults), verdict.ran, time.monotonic() - began, text)


def _harmless(work: Path) -> int:
    """The unprivileged user that owns the folder from now on."""
    user = pwd.getpwnam("nobody").pw_uid
    os.chown(work, user, -1)
    return user


class _Watched:
    """Looks at the processes of a session until the end is announced."""

    def __init__(self, session: int, program: str, library: Path | None):
        self.proven = False
        self._session = session
        self._program = program
        self._library = library
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while self._library is not None and not self.proven and not self._over.wait(0.2):
            for process in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError, ValueError):
                    self.proven = self.proven or self._is_under(process)

    def _is_under(self, process: Path) -> bool:
        if (process / "exe").readlink().name != self._program:
            return False
        stat = re.sub(r"^.*\) ", "", (process / "stat").read_text(encoding="utf-8"), flags=re.S)
        mapped = (process / "maps").read_text(encoding="utf-8", errors="replace")
        return int(stat.split()[3]) == self._session and str(self._library) in mapped
