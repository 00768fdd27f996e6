# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The call sites of a process under the sampler, for `heapwright top --by-site`.

The sampler writes a document when it receives its signal. A reading takes the document that the
last reading requested, and requests the next one, so it never waits. Requested documents are
removed.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from heapwright.artefacts.stacks.profile import Amount
from heapwright.artefacts.stacks.sampler import OWN_LIBRARY
from heapwright.base.errors import HeapwrightError
from heapwright.commands.sampled import PREFIX, SUFFIX
from heapwright.look.process import PROC, environment_of
from heapwright.look.watch import rate
from heapwright.profile.stacks import read_named_stacks
from heapwright.profile.symbols.names import Known
from heapwright.report.stacks.holders import holders
from heapwright.report.top import SiteLine

SIGNAL = "HEAPWRIGHT_SAMPLE_SIGNAL"
DEFAULT_PREFIX = "heapwright"
REQUESTED = b"\nreason signal\n"
HEAD_BYTES = 4096
MOST = 12
PATIENCE_S = 10.0
"""If the first request is not answered in this time, there is no second: another handler has the
signal."""
POLL_S = 0.02


class Sites:
    """What the documents of one process say, the newest first."""

    def __init__(self, pid: int, proc: Path = PROC) -> None:
        """Raises HeapwrightError if the process is not under the sampler."""
        self._pid = pid
        environment = environment_of(pid, proc)
        if not _is_sampled(proc / str(pid)):
            raise HeapwrightError(
                f"process {pid} is not under the sampler, so its call sites are unknown",
                "start it with LD_PRELOAD=libheapwright-sampler.so and "
                f"{SIGNAL}=USR2 (docs/reference/sampling.md), or record it now: "
                f"heapwright attach --stacks {pid}",
            )
        prefix = Path(environment.get(PREFIX) or DEFAULT_PREFIX)
        self._prefix = prefix if prefix.is_absolute() else _folder(pid, proc) / prefix
        self._signal = _caught(proc / str(pid), environment.get(SIGNAL, ""))
        self._known: Known = {}
        existing = max(self._documents(), default=None)
        self._taken = -1 if existing is None else existing[0]
        self._asked: float | None = None
        self._is_answered = False
        self._before: dict[str, int] = {}
        self._when: float | None = None
        self.lines: tuple[SiteLine, ...] = ()
        """The largest holders of live memory at the last document."""
        if existing is not None and self._signal is None:
            self._take(existing[1])

    @property
    def note(self) -> str:
        """Why there are no sites, or no new ones; empty: there are."""
        if self._signal is None:
            return (
                "sites are those of the documents that the sampler writes by itself; "
                f"{SIGNAL}=USR2 at the start of the process lets top request them"
            )
        if self._is_refused():
            return "the sampler does not answer its signal: the program has replaced its handler"
        return "" if self.lines else "the first document of the sampler is requested"

    def read(self) -> None:
        """Take the newest document, and request the next one. Raises HeapwrightError."""
        self._collect()
        late = self._asked is not None and time.monotonic() > self._asked + PATIENCE_S
        if late and self._is_answered:
            self._asked = None  # the document could not be written
        if self._signal is not None and self._asked is None:
            self._asked = time.monotonic()
            try:
                os.kill(self._pid, self._signal)
            except OSError as error:
                raise HeapwrightError(
                    f"process {self._pid} cannot be sent a signal: {error.strerror or error}"
                ) from error

    def wait(self) -> None:
        """Request a document and take it, or give up. Raises HeapwrightError."""
        self.read()
        self._collect_until(lambda: self._asked is None)

    def close(self) -> None:
        """Remove the last document that was requested."""
        if self._is_answered:
            self._collect_until(lambda: self._asked is None)

    def _collect_until(self, is_done: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not is_done() and time.monotonic() < end:
            time.sleep(POLL_S)
            self._collect()

    def _collect(self) -> None:
        """Take the newest new document, and remove those that were requested."""
        new = [each for each in self._documents() if each[0] > self._taken]
        if not new:
            return
        self._taken, newest = max(new)
        self._take(newest)
        for _, each in new:
            if self._asked is not None and _is_requested(each):
                self._is_answered = True
                self._asked = None
                each.unlink(missing_ok=True)

    def _is_refused(self) -> bool:
        late = self._asked is not None and time.monotonic() > self._asked + PATIENCE_S
        return late and not self._is_answered

    def _documents(self) -> Iterator[tuple[int, Path]]:
        start = f"{self._prefix.name}.{self._pid}."
        for each in self._prefix.parent.glob(f"*{SUFFIX}"):
            number = each.name.removeprefix(start).removesuffix(SUFFIX)
            if each.name.startswith(start) and number.isdecimal():
                yield int(number), each

    def _take(self, document: Path) -> None:
        found = read_named_stacks(document, self._known)
        now = time.monotonic()
        passed = 0.0 if self._when is None else now - self._when
        live: dict[str, int] = {}
        lines: list[SiteLine] = []
        for each in holders(found, Amount.KEPT_BYTES):
            name = " ← ".join(each.own)
            live[name] = live.get(name, 0) + each.bytes
            if len(lines) < MOST:
                growth = rate(self._before.get(name, 0), each.bytes, passed)
                lines.append(SiteLine(each.own, each.bytes, each.bounds, growth))
        self._before, self._when, self.lines = live, now, tuple(lines)


def _is_sampled(process: Path) -> bool:
    try:
        return OWN_LIBRARY in (process / "maps").read_text("utf-8", "replace")
    except OSError:
        return False


def _folder(pid: int, proc: Path) -> Path:
    try:
        return (proc / str(pid) / "cwd").readlink()
    except OSError as error:
        raise HeapwrightError(
            f"the folder of process {pid} cannot be read, and its samples are there: "
            f"{error.strerror or error}",
            f"start it with {PREFIX}=/an/absolute/path",
        ) from error


def _caught(process: Path, name: str) -> int | None:
    """The number of the sampler's signal; None: there is none, or it would end the process."""
    number = signal.Signals.__members__.get(f"SIG{name}")
    if not name or number is None:
        return None
    try:
        text = (process / "status").read_text("utf-8", "replace")
    except OSError:
        return None
    caught = next((line for line in text.splitlines() if line.startswith("SigCgt:")), "SigCgt: 0")
    return int(number) if int(caught.split()[1], 16) >> (number - 1) & 1 else None


def _is_requested(document: Path) -> bool:
    with document.open("rb") as file:
        return REQUESTED in file.read(HEAD_BYTES)
