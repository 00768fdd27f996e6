# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The call sites of a process under the sampler, for `heapwright top --by-site`.

The sampler writes a document when it receives its signal. A reading takes the document that the
last reading requested, and requests the next one, so it never waits. Requested documents are
removed.
"""

import os
import select
import signal
import time
from contextlib import suppress
from pathlib import Path

from heapwright.artefacts.stacks.sampler import OWN_LIBRARIES
from heapwright.base.errors import HeapwrightError
from heapwright.commands.sampled import PREFIX, SUFFIX
from heapwright.commands.top_lines import SiteLines
from heapwright.look.process import PROC, environment_of
from heapwright.profile.stacks import read_named_stacks
from heapwright.profile.symbols.names import Known
from heapwright.report.top import SiteLine

SIGNAL = "HEAPWRIGHT_SAMPLE_SIGNAL"
DEFAULT_PREFIX = "heapwright"
REQUESTED = b"\nreason signal\n"
HEAD_BYTES = 4096
PATIENCE_S = 10.0
"""If the first request is not answered in this time, there is no second: another handler has the
signal."""
POLL_MS = 20
NOT_SENT = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGPWR}
"""A handler of the program itself would end it."""


class SampledSites:
    """What the documents of one process say, the newest first."""

    def __init__(self, pid: int, proc: Path = PROC) -> None:
        """Raises HeapwrightError if the process has ended, or may not be sent a signal."""
        self._pid = pid
        self._process = proc / str(pid)
        try:
            self._handle = os.pidfd_open(pid)
        except OSError as error:
            raise _unreachable(pid, error) from error
        environment = environment_of(pid, proc)
        self._file = environment.get(PREFIX) or DEFAULT_PREFIX
        self._prefix = self._process / "cwd" / self._file
        number = _number_of(environment.get(SIGNAL, ""))
        self._signal = number if number and _caught(self._process, number) else None
        self._known: Known = {}
        existing = self._documents()
        self._seen = set(existing)
        self._asked = 0.0
        """The time of the last request."""
        self._is_pending = False
        """The last request is not answered."""
        self._outstanding = 0
        """Requests whose documents were not removed yet. A late document is one of these."""
        self._is_answered = False
        self._is_refused = False
        self._site_lines = SiteLines()
        if self._signal is None:
            self._take_newest(existing)

    @property
    def lines(self) -> tuple[SiteLine, ...]:
        """The largest holders of live memory at the last document."""
        return self._site_lines.lines

    @property
    def note(self) -> str:
        """Why there are no sites, or no new ones; empty: there are."""
        if self._signal is None:
            return (
                "sites are those of the documents that the sampler writes by itself; "
                f"{SIGNAL}=USR2 at the start of the process lets top request them"
            )
        if self._is_refused:
            return (
                "the sampler does not answer its signal: the program has replaced its handler, "
                "is stopped, or its documents cannot be written"
            )
        return "" if self.lines else "the first document of the sampler is requested"

    def read(self) -> None:
        """Take the newest document, and request the next one. Raises HeapwrightError."""
        self._collect()
        if self._signal is None:
            return
        if self._is_pending:
            self._is_refused = time.monotonic() > self._asked + PATIENCE_S
            if not self._is_refused or not self._is_answered:
                return
            self._is_answered = False  # the document could not be written: one more request
        # Directly before each signal: the program may have replaced the handler, or called exec.
        self._is_refused = not _caught(self._process, self._signal)
        if self._is_refused:
            return
        self._asked = time.monotonic()
        self._is_pending = True
        self._outstanding += 1  # before the signal, behind which Ctrl-C may come
        try:
            signal.pidfd_send_signal(self._handle, self._signal)
        except OSError as error:
            self._outstanding -= 1
            raise _unreachable(self._pid, error) from error

    def wait(self) -> None:
        """Request a document and take it, or give up. Raises HeapwrightError."""
        self.read()
        self._await()
        self._is_refused |= self._is_pending

    def close(self) -> None:
        """Remove the documents that were requested."""
        with suppress(HeapwrightError):  # a damaged document is not shown now
            self._await()
        os.close(self._handle)

    def _await(self) -> None:
        """Collect until each request is answered, the last one is late, or the process ends."""
        end = select.poll()
        end.register(self._handle, select.POLLIN)
        has_ended = False
        while True:
            self._collect()
            late = time.monotonic() > self._asked + PATIENCE_S
            if has_ended or late or not self._outstanding:
                return
            has_ended = bool(end.poll(POLL_MS))

    def _collect(self) -> None:
        """Take the newest new document, and remove those that were requested."""
        new = [each for each in self._documents() if each not in self._seen]
        self._seen.update(new)
        try:
            self._take_newest(new)
        finally:
            for each in new:
                if self._outstanding and _is_requested(each):
                    self._outstanding -= 1
                    self._is_answered = True
                    self._is_pending = self._is_refused = False
                    with suppress(OSError):
                        each.unlink()
                        self._seen.discard(each)  # exec begins the numbers again

    def _documents(self) -> list[Path]:
        """The oldest first. Another top may remove them at any time."""
        with suppress(OSError):  # it has ended: the last known place
            self._prefix = _prefix(self._process, self._file)
        start = f"{self._prefix.name}.{self._pid}."
        found: list[tuple[int, int, Path]] = []
        with suppress(OSError):
            for each in self._prefix.parent.iterdir():
                number = each.name.removeprefix(start).removesuffix(SUFFIX)
                if each.name == f"{start}{number}{SUFFIX}" and number.isdecimal():
                    with suppress(OSError):
                        found.append((each.stat().st_mtime_ns, int(number), each))
        return [each for _, _, each in sorted(found)]

    def _take_newest(self, documents: list[Path]) -> None:
        """Of those that still exist."""
        for each in reversed(documents):
            try:
                self._take(each)
            except HeapwrightError:
                if each.exists():
                    raise
            else:
                break

    def _take(self, document: Path) -> None:
        self._site_lines.take(read_named_stacks(document, self._known), time.monotonic())


def is_sampled(pid: int, proc: Path = PROC) -> bool:
    """Whether the sampler is in the process."""
    try:
        maps = (proc / str(pid) / "maps").read_text("utf-8", "replace")
    except OSError:
        return False
    return any(each in maps for each in OWN_LIBRARIES)


def _prefix(process: Path, file: str) -> Path:
    """Where the process writes now. Raises OSError if it has ended.

    The path leads through its root, because it may be in a container. The path of a process with
    the same root remains valid after its end.
    """
    root = process / "root"
    is_here = root.samefile("/") and (process / "ns/mnt").samefile(process.parent / "self/ns/mnt")
    inside = (process / "cwd").readlink() / file
    return inside if is_here else Path(f"{root}/{inside}")


def _unreachable(pid: int, error: OSError) -> HeapwrightError:
    return HeapwrightError(f"process {pid} cannot be sent a signal: {error.strerror or error}")


def _number_of(name: str) -> signal.Signals | None:
    """The sampler's signal, with or without SIG; None: there is none, or top does not send it."""
    number = signal.Signals.__members__.get(f"SIG{name.removeprefix('SIG')}")
    return None if number in NOT_SENT else number


def _caught(process: Path, number: signal.Signals) -> bool:
    """Whether the process handles the signal now, and none waits to be handled."""
    try:
        text = (process / "status").read_text("utf-8", "replace")
    except OSError:
        return False
    table = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    caught, pending = (int(table.get(name, "0"), 16) for name in ("SigCgt", "ShdPnd"))
    return bool(caught & ~pending & 1 << number - 1)


def _is_requested(document: Path) -> bool:
    try:
        with document.open("rb") as file:
            return REQUESTED in file.read(HEAD_BYTES)
    except OSError:
        return False
