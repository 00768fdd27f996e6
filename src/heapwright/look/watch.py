# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What `heapwright top` watches: cheap figures of the kernel, and walks of the heap at intervals.

A walk costs processor time in proportion to the heap. `Budget` states when the next one may begin,
so that all of them together use a fixed share of one processor.
"""

import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from heapwright.look.process import PROC, gone, read_process
from heapwright.look.scan import Denied, Scan, scan_process

MINOR_FAULTS = 7
"""Places in /proc/PID/stat behind the name, from 0."""
MAJOR_FAULTS = 9
USER_TICKS = 11
SYSTEM_TICKS = 12
START = 19


@dataclass(frozen=True, slots=True)
class Kernel:
    """The figures that each user may read."""

    when: float
    """Seconds of the monotonic clock."""
    started: str
    """Differs for a later process with the same number."""
    name: str
    threads: int
    resident: int
    swapped: int
    faults: int
    processor_s: float


@dataclass(frozen=True, slots=True)
class Class:
    """The live blocks with usable sizes from `least` to below twice of it."""

    least: int
    blocks: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Heap:
    """What a walk found of the allocator."""

    when: float
    live: int
    blocks: int
    held: int
    """Bytes of the allocator that are not live: cached, in bins and at the top."""
    sizes: tuple[Class, ...]


def read_kernel(pid: int, proc: Path = PROC) -> Kernel:
    """Read the kernel's figures. Raises HeapwrightError if the process has ended."""
    process = read_process(pid, proc)
    try:
        text = (proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise gone(pid) from error
    words = text[text.rindex(")") + 2 :].split()
    ticks = int(words[USER_TICKS]) + int(words[SYSTEM_TICKS])
    return Kernel(
        when=time.monotonic(),
        started=words[START],
        name=process.name,
        threads=process.threads,
        resident=process.resident,
        swapped=process.swapped,
        faults=int(words[MINOR_FAULTS]) + int(words[MAJOR_FAULTS]),
        processor_s=ticks / os.sysconf("SC_CLK_TCK"),
    )


def walk(pid: int) -> Heap | Denied | None:
    """Walk the heap. None: no heap that can be walked. Raises HeapwrightError if it has ended."""
    scan = scan_process(pid, pause=False, leaks=False, sizes=True)
    return scan if isinstance(scan, Denied) else heap_of(scan, time.monotonic())


def heap_of(scan: Scan, when: float) -> Heap | None:
    """The sums of a scan; None if it found neither glibc's heap in use nor granary's."""
    if scan.granary is not None:
        granary = scan.granary
        live = granary.small.bytes + granary.large.bytes
        blocks = granary.small.blocks + granary.large.blocks
        return Heap(when, live, blocks, max(granary.resident_bytes - live, 0), ())
    if scan.glibc is None or not any(each.heaps for each in scan.glibc.arenas):
        return None
    arenas, mapped = scan.glibc.arenas, scan.glibc.mapped
    return Heap(
        when,
        live=sum(each.live.bytes for each in arenas) + mapped.bytes,
        blocks=sum(each.live.blocks for each in arenas) + mapped.blocks,
        held=sum(
            each.cached.bytes + each.fast.bytes + each.free.bytes + each.top_bytes
            for each in arenas
        ),
        sizes=tuple(Class(each.least, each.blocks, each.bytes) for each in scan.sizes),
    )


def processor_time() -> float:
    """Seconds of processor time of this process and of its children that have ended."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


class Budget:
    """Limits repeated work to a share of one processor.

    `due` is the time at which the next piece may begin. From the begin of the last piece to this
    time, that piece used at most the share.
    """

    def __init__(
        self,
        share: float,
        least_s: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        spent: Callable[[], float] = processor_time,
    ) -> None:
        self._share = share
        self._least = least_s
        self._clock = clock
        self._spent = spent
        self._begun = (0.0, 0.0)
        self.due = 0.0

    def begin(self) -> None:
        """A piece of the work begins."""
        self._begun = (self._clock(), self._spent())

    def end(self) -> None:
        """It has ended."""
        when, spent = self._begun
        self.due = when + max(self._least, (self._spent() - spent) / self._share)


def rate(before: float, now: float, seconds: float) -> float | None:
    """The change for each second; None without a time between."""
    return (now - before) / seconds if seconds > 0 else None
