# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The table in which processes report their live bytes, counted by their allocators.

They preload `libheapwright-gauge.so`, which writes the table (native/runner/gauge/gauge.c). This
module makes and reads it. When a process is gone, its slot is free again. A slot that is older than
some intervals is ignored, because its process has stopped.
"""

import mmap
import os
import struct
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from heapwright.base import native

LIBRARY = "gauge"
FILE, EVERY = "HEAPWRIGHT_GAUGE", "HEAPWRIGHT_GAUGE_MS"
SLOTS = 4096
SLOT = struct.Struct("=qQqQQ24s")
NUMBER = struct.Struct("=q")
STALE = 5
"""Intervals after which a slot is stale, and the least number of seconds."""
ATTEMPTS = 8


@dataclass(frozen=True, slots=True)
class Told:
    """The report of one process."""

    live: int
    taken: int
    source: str


class Gauge:
    """The table; a context manager."""

    def __init__(self, file: Path, interval_s: float) -> None:
        self._file = file
        self._interval_s = interval_s
        with file.open("w+b") as made:
            os.posix_fallocate(made.fileno(), 0, SLOTS * SLOT.size)  # no SIGBUS on a full disk
            self._table = mmap.mmap(made.fileno(), SLOTS * SLOT.size)

    @property
    def library(self) -> Path:
        """The library to preload after the allocator."""
        return native.library(LIBRARY)

    @property
    def variables(self) -> Mapping[str, str]:
        """The variables by which processes find the table."""
        return {FILE: str(self._file), EVERY: str(max(round(self._interval_s * 1000), 1))}

    def told(self, pids: Iterable[int]) -> dict[int, Told]:
        """The reports of these processes. Slots of ended processes are freed."""
        wanted = set(pids)
        oldest = time.monotonic_ns() - int(max(STALE * self._interval_s, STALE) * 1e9)
        found = {}
        for place in range(0, SLOTS * SLOT.size, SLOT.size):
            (pid,) = NUMBER.unpack_from(self._table, place)
            if pid == 0:
                continue
            if pid in wanted:
                read = self._read(place)
                if read is not None and read[0] >= oldest:
                    found[pid] = read[1]
            elif not Path(f"/proc/{pid}").exists():
                SLOT.pack_into(self._table, place, 0, 0, 0, 0, 0, b"")
        return found

    def _read(self, place: int) -> tuple[int, Told] | None:
        """Time and content of the report; None if it is always being written, or was never
        written."""
        for _ in range(ATTEMPTS):
            _, before, at, live, taken, source = SLOT.unpack_from(self._table, place)
            _, after, *_ = SLOT.unpack_from(self._table, place)
            if before == after and before % 2 == 0:
                name = source.rstrip(b"\0").decode("ascii", "replace")
                return (at, Told(live, taken, name)) if before else None
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._table.close()
        self._file.unlink(missing_ok=True)
