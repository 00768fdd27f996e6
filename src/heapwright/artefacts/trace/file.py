# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Traces: what a file says of itself, whether all of it can be read, and traces of other formats.

The format is in native/trace/FORMAT.md. Files of billions of calls are read by `heapwright-trace`;
what it answers is checked here like anything else that is read. `artefacts.trace.frame` has the
events.
"""

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from heapwright.base.errors import HeapwrightError
from heapwright.base.native_programs import Program

PROGRAM = "trace"
START_OF_TEXT = b"= Start"
WHERE = re.compile(r", at byte (\d+)$")

STOPPED = {
    "disk-full": "the disk was full",
    "limit": "the trace had come to its limit",
    "failed": "a write to the trace's file failed",
}
"""Why a recording stopped before its end."""

Count = Annotated[int, Field(ge=0)]


class TraceError(HeapwrightError):
    """A file that is no trace, or cannot be read; `offset` is the byte where, if one is known."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        found = WHERE.search(message)
        self.offset = int(found.group(1)) if found else None


class TraceFormat(StrEnum):
    """Formats of others that can be read."""

    WL = "wl"
    MTRACE = "mtrace"
    MTRACE_TEXT = "mtrace-text"
    ANDROID = "android"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def from_program(cls, words: Sequence[str], *, fine: Sequence[int] = (0,)) -> Self:
        """What `heapwright-trace WORDS` answers."""
        return Program(PROGRAM, TraceError).answer(cls, words, fine=fine)


class TraceFault(_Model):
    """A piece that could not be used, and the byte of the file where it stands."""

    offset: Count
    what: str


class TraceProcess(_Model):
    process: Count
    parent: Count | None
    pid: Count
    cause: str
    start_ns: Count
    end_ns: Count | None
    replaced: bool
    executable: str
    arguments: tuple[str, ...]


class TraceThread(_Model):
    thread: Count
    process: Count
    tid: Count
    events: Count
    lost: Count
    clock_backwards: Count
    first_ns: Count
    last_ns: Count
    ended: bool


class TraceMark(_Model):
    """A moment that the program or a signal named while it was recorded."""

    name: str
    time_ns: Count
    process: Count
    signal: Count
    """That made it; 0: the program itself."""


class TraceAccount(_Model):
    """One program image of the recorded command's process tree, recorded or not."""

    pid: Count
    parent_pid: Count
    executable: str
    provider: str
    """The object that provides malloc; empty: not known."""
    count: Count
    cpu_ns: Count
    peak_bytes: Count
    witnessed: bool
    recorded: bool
    served: bool
    """The recorder provides malloc, whether it records or not."""


class TraceAccounts(_Model):
    """The processes of the recorded command, and their processor time."""

    cpu_ns: Count
    allowance_ns: Count
    settings: str
    """Lines NAME=VALUE of the environment that decide which heap a language runtime uses, or that
    set an allocator."""

    @property
    def environment(self) -> dict[str, str]:
        """The same as variables."""
        return dict(line.split("=", 1) for line in self.settings.splitlines() if "=" in line)

    processes: tuple[TraceAccount, ...]


class TraceInfo(_Model):
    """What a trace says of itself; nothing of it but what is still being written is decoded."""

    version: Count
    bytes: Count
    closed: bool
    stop: str
    clock: str
    ticks_per_second: Count
    start_utc_ns: Count
    stacks: bool
    sample_interval: Count
    imported: bool
    generated: bool
    invented_addresses: bool
    followed: bool
    lost: Count
    unfollowed: Count
    events: Count
    open_blocks: Count
    blocks: Count
    processes: tuple[TraceProcess, ...]
    threads: tuple[TraceThread, ...]
    mark_count: Count
    marks: tuple[TraceMark, ...]
    """By time, 1,000 at most."""
    accounts: TraceAccounts | None
    """None: the trace is of an earlier version, or its recording was not closed."""
    fault_count: Count
    faults: tuple[TraceFault, ...]

    @property
    def bytes_per_event(self) -> float | None:
        return self.bytes / self.events if self.events else None


class TraceCheck(_Model):
    """What a trace is like once all of it was decoded."""

    events: Count
    records: Count
    bytes: Count
    closed: bool
    held: Count
    fault_count: Count
    faults: tuple[TraceFault, ...]


class ImportResult(_Model):
    """What was read from another format, and what was odd there, counted."""

    events: Count
    threads: Count
    odd: dict[str, int]


class ExportResult(_Model):
    """What was written as .wl, and what that format could not say."""

    events: Count
    threads: Count
    signals: Count
    unknown_frees: Count
    replaced: Count
    fault_count: Count


def trace_info(path: Path) -> TraceInfo:
    """What a trace says of itself. Raises TraceError."""
    return TraceInfo.from_program(["info", plain(path)])


def check_trace(path: Path) -> TraceCheck:
    """Decode all of a trace and say what could not be used. Raises TraceError."""
    return TraceCheck.from_program(["check", plain(path)], fine=(0, 1))


def import_trace(path: Path, to: Path, source: TraceFormat | None = None) -> ImportResult:
    """Make a trace of a file of another format. Raises HeapwrightError."""
    source = source or guess_format(path)
    if source is not TraceFormat.MTRACE_TEXT and _is_text_of_glibc(path):
        if source is not TraceFormat.MTRACE:
            raise HeapwrightError(f"{path} is a text log of mtrace()", "leave out --format")
        source = TraceFormat.MTRACE_TEXT
    return ImportResult.from_program(["import", source.value, plain(path), plain(to)])


def _is_text_of_glibc(path: Path) -> bool:
    """Whether the file is the text log of glibc's mtrace(). Its name says nothing."""
    try:
        with path.open("rb") as file:
            return file.read(len(START_OF_TEXT)) == START_OF_TEXT
    except OSError:
        return False


def export_wl(path: Path, to: Path, process: int | None = None) -> ExportResult:
    """Write a trace as a .wl workload. Raises TraceError."""
    return ExportResult.from_program(["export", "wl", *selection(process), plain(path), plain(to)])


def guess_format(path: Path) -> TraceFormat:
    """The format by the file's ending, or by the first line of an mtrace() log."""
    if _is_text_of_glibc(path):
        return TraceFormat.MTRACE_TEXT
    endings = {
        ".wl": TraceFormat.WL,
        ".mtrace": TraceFormat.MTRACE,
        ".txt": TraceFormat.ANDROID,
    }
    if (found := endings.get(path.suffix.lower())) is None:
        raise HeapwrightError(
            f"the name of {path} does not say what format it has",
            f"say --format, one of {', '.join(TraceFormat)}",
        )
    return found


def plain(path: Path) -> str:
    """A path that no program takes for an option."""
    return str(path) if not str(path).startswith("-") else f"./{path}"


def selection(process: int | None) -> list[str]:
    return [] if process is None else ["--process", str(process)]
