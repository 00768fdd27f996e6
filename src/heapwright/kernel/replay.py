# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Replays a kernel trace in a real kernel, and reads the slab memory that the kernel reports.

The kernels are built with patches/linux-6.1/replay.patch and lie apart from those that are
measured. The trace is one of the guest's first files. The guest's first process writes its path to
the kernel, and sends the kernel's report (native/guest/replay.c). With one processor the time is
virtual, and a replay repeats exactly.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapwright.kernel.archive import regular
from heapwright.kernel.boot import Asked, MachineExtras, check_guest, ran
from heapwright.kernel.build import Plan
from heapwright.kernel.configuration import read_fragment
from heapwright.kernel.folders import shipped
from heapwright.kernel.image_cache import Built
from heapwright.kernel.loads import Load
from heapwright.kernel.patch import REPLAY, find_patch
from heapwright.kernel.records import GuestError, read_records
from heapwright.kernel.replay_file import ReplayFile

FOLDER = "replays"
"""Of the cache: apart from the kernels that are measured."""
PATH = "replay.bin"
"""As native/guest/replay.c has it."""
KERNEL_MIB = 64
"""For the kernel itself and its first process."""
COPIES = 3
"""Of the file in the memory of the guest: compressed, unpacked, and in the replay."""
PATIENCE_S = 1800.0
REPORT = re.compile(r"(base|mark) (\d+) (\d+)|(end) (\d+) (\d+) (\d+) (\d+)")


@dataclass(frozen=True, slots=True)
class MemoryMark:
    """Pages of the kernel at a mark."""

    slab_pages: int
    free_pages: int


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a kernel reported about a replay."""

    allocator: str
    time: str
    """The kind of time: virtual, or the host's."""
    base: MemoryMark
    marks: tuple[MemoryMark, ...]
    """At the marks of the trace."""
    kept: MemoryMark
    """After the last object was freed."""
    ns: int
    """Time of the timed events, without the marks."""
    dry_ns: int
    """Time of the same loop without the requests."""
    refused: int
    moves: int
    """To another processor, among the timed events."""

    @property
    def slab_pages(self) -> tuple[int, ...]:
        """Slab memory of the replay alone, at each mark."""
        return tuple(mark.slab_pages - self.base.slab_pages for mark in self.marks)

    @property
    def kept_pages(self) -> int:
        return self.kept.slab_pages - self.base.slab_pages

    @property
    def request_ns(self) -> int:
        """Time of the requests without the loop around them."""
        return self.ns - self.dry_ns


def replay_plan(plan: Plan) -> Plan:
    """The same kernel with the replay. Raises HeapwrightError if a file of it is missing."""
    fragment = read_fragment(shipped() / f"{REPLAY}.config")
    patches = (*plan.patches, find_patch(REPLAY))
    return replace(plan, fragments=(*plan.fragments, fragment), patches=patches)


def replayed(
    built: Built, file: ReplayFile, cache: Path, timeout_s: float = PATIENCE_S
) -> Replayed:
    """Boot the kernel and have it replay the file. Raises HeapwrightError."""
    room = COPIES * -(-len(file.data) // (1 << 20))
    load = Load(REPLAY, "trace", file.memory_mib + KERNEL_MIB + room, timeout_s, {})
    asked = Asked(load, cpus=file.cpus)
    extras = MachineExtras(files={PATH: regular(file.data)})
    machine, taken = ran(built, asked, cache, extras)
    records = read_records(taken.raw, taken.console)
    check_guest(records, built, asked)
    return read_report(records.output, built.allocator, machine.time, len(file.marks))


def read_report(lines: Sequence[str], allocator: str, time: str, marks: int) -> Replayed:
    """What the kernel's lines say. Raises GuestError if they are incomplete."""
    found: dict[str, list[tuple[int, ...]]] = {"base": [], "mark": [], "end": []}
    for line in lines:
        match = REPORT.fullmatch(line)
        if match is None:
            raise GuestError(f"the kernel's report of the replay has the line {line!r}", "")
        numbers = tuple(int(each) for each in match.groups() if each and each.isdigit())
        found[match[1] or match[4]].append(numbers)
    # The mark behind those of the trace is that of the kept memory.
    if [len(each) for each in found.values()] != [1, marks + 1, 1]:
        raise GuestError(
            "the kernel's report of the replay is incomplete: it has "
            f"{len(found['mark'])} of {marks + 1} marks",
            "build the kernel with the replay again: heapwright kernel replay --again",
        )
    (end,) = found["end"]
    *during, kept = (MemoryMark(*each) for each in found["mark"])
    return Replayed(allocator, time, MemoryMark(*found["base"][0]), tuple(during), kept, *end)
