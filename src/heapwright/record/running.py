# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The trace that a process writes now, found from outside.

The recorder keeps the header page of its trace mapped. native/trace/FORMAT.md has the fields.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from heapwright.artefacts.trace.file import trace_info
from heapwright.base.errors import HeapwrightError
from heapwright.base.paths import TRACE_MAGIC, below

PROC = Path("/proc")
HEADER_BYTES = 256
FLAGS = 20
START_UTC = 48
RECORDING = 200
CLOSED = 216
STACKS = 1
FOLLOWED = 32
NO_CALL = -1
"""No process has this number."""
DELETED = " (deleted)"
ESCAPED_NEWLINE = "\\012"


@dataclass(frozen=True, slots=True)
class RunningTrace:
    """A trace that a process has mapped."""

    path: Path
    """As this process reaches it."""
    root: Path
    """The root folder of the process, maybe in a container."""
    pid: int
    """In the namespace of the process."""
    has_stacks: bool
    is_followed: bool
    """Whether the recording includes child processes."""
    began_s: float
    """Since 1970."""

    @classmethod
    def of(cls, path: Path, root: Path, pid: int) -> Self | None:
        """None if the file is no trace."""
        header = _header(path)
        if header is None:
            return None
        (flags,) = struct.unpack_from("<I", header, FLAGS)
        (start,) = struct.unpack_from("<Q", header, START_UTC)
        return cls(path, root, pid, bool(flags & STACKS), bool(flags & FOLLOWED), start / 1e9)

    def is_recording(self) -> bool:
        """Whether more calls are to come. Raises HeapwrightError if the file is gone."""
        header = _header(self.path)
        if header is None:
            raise HeapwrightError(f"the trace {self.path} is no longer readable")
        recording, stop = struct.unpack_from("<II", header, RECORDING)
        (closed,) = struct.unpack_from("<Q", header, CLOSED)
        return bool(recording) and not stop and not closed

    def process(self) -> int | None:
        """The number of the process in the trace; None if it has no other. `NO_CALL` if it may
        have none because it has made no call. Raises HeapwrightError."""
        processes = trace_info(self.path).processes
        own = [each.process for each in processes if each.pid == self.pid]  # one for each exec
        if not own and self.is_followed:
            return NO_CALL
        if not own:
            raise HeapwrightError(
                f"process {self.pid} is not recorded in the trace {self.path}",
                "record its program with heapwright record --follow-children",
            )
        return own[-1] if len(processes) > 1 else None


def running_trace(pid: int, proc: Path = PROC) -> RunningTrace | None:
    """The trace that the process writes; None if it is not recorded, or may not be read.

    Raises HeapwrightError if the trace was removed.
    """
    process = proc / str(pid)
    root = process / "root"
    removed = ""
    for path, inode in _shared_files(process):
        if path.endswith(DELETED):
            removed = path.removesuffix(DELETED) if path.endswith(f".trace{DELETED}") else removed
            continue
        for place in (Path(path), below(root, path)):
            if _inode(place) == inode:  # in a container, this path may have another file
                found = RunningTrace.of(place, root, _inner_pid(process, pid))
                if found is not None:
                    return found
    if removed:
        raise HeapwrightError(
            f"process {pid} writes the trace {removed}, which was removed",
            "end this recording, and begin another",
        )
    return None


def _shared_files(process: Path) -> Iterator[tuple[str, int]]:
    """The files whose first page the process shares and may write, with their inodes."""
    try:
        text = (process / "maps").read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return
    for line in text.split("\n"):  # a path may contain each other end of a line
        words = line.split(maxsplit=5)
        if len(words) == 6 and words[1] == "rw-s" and int(words[2], 16) == 0:
            yield words[5].replace(ESCAPED_NEWLINE, "\n"), int(words[4])


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _header(path: Path) -> bytes | None:
    """The header of a trace; None if the file is none."""
    try:
        if not path.is_file():  # opening a device may have effects
            return None
        with path.open("rb") as file:
            header = file.read(HEADER_BYTES)
    except OSError:
        return None
    return header if len(header) == HEADER_BYTES and header.startswith(TRACE_MAGIC) else None


def _inner_pid(process: Path, pid: int) -> int:
    """The number that the process has for itself."""
    try:
        text = (process / "status").read_text("utf-8", "replace")
    except OSError:
        return pid
    numbers = next((line for line in text.splitlines() if line.startswith("NSpid:")), "")
    return int(numbers.split()[-1]) if numbers else pid
