# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The system's figures for the memory of a process and of all its descendants, at one moment.

Proportional sizes are summed. Memory that processes share after a fork, code and shared buffers
therefore count once. If the system does not show them (a process of another user), resident pages
are used, and shared memory counts several times.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
KIBI = 1024
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Resident:
    """Bytes of memory that there is."""

    resident: int
    anonymous: int
    lazy: int
    swapped: int

    def __add__(self, other: "Resident") -> "Resident":
        return Resident(
            self.resident + other.resident,
            self.anonymous + other.anonymous,
            self.lazy + other.lazy,
            self.swapped + other.swapped,
        )


NOTHING = Resident(0, 0, 0, 0)


def descendants(pid: int, proc: Path = PROC) -> list[int]:
    """The numbers of all living descendants of a process, without itself."""
    found, waiting = [], [pid]
    while waiting:
        for child in _children(waiting.pop(), proc):
            found.append(child)
            waiting.append(child)
    return found


def _children(pid: int, proc: Path) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for task in (proc / str(pid) / "task").iterdir():
            with contextlib.suppress(OSError):
                text = (task / "children").read_text(encoding="ascii")
                yield from map(int, text.split())


def resident_of(pid: int, proc: Path = PROC) -> Resident | None:
    """Of one process; None if it is gone."""
    folder = proc / str(pid)
    try:
        return _rolled_up((folder / "smaps_rollup").read_text(encoding="ascii", errors="replace"))
    except OSError:
        try:
            pages = [int(each) for each in (folder / "statm").read_text(encoding="ascii").split()]
        except (OSError, ValueError):
            return None
    return Resident(pages[1] * PAGE, (pages[1] - pages[2]) * PAGE, 0, 0) if pages[1] else None


def _rolled_up(text: str) -> Resident | None:
    kibi: dict[str, int] = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        if rest.endswith(" kB"):
            kibi[name] = int(rest.split()[0])
    if "Pss" not in kibi:
        return None
    anonymous = kibi.get("Pss_Anon", kibi.get("Anonymous", 0))
    names = (kibi["Pss"], anonymous, kibi.get("LazyFree", 0), kibi.get("SwapPss", 0))
    return Resident(*(each * KIBI for each in names))
