# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Which call sites have objects that die together, and which reuse one size: one pass over a trace.

A *region* of a site is a run of its frees without an allocation of the site between them. At its
end at most a tenth of the bytes of the site are left. The objects of a thread count apart.
Reallocated objects are in no region, because a region cannot resize them.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from heapwright.artefacts.trace.frame import ROUTINES, frames

FREES = frozenset(name for name in ROUTINES.values() if "free" in name or "delete" in name)
LEAST = 8
"""Objects of a region: fewer are freed nearly as cheaply one by one."""
LEFT = 0.1
"""Share of the bytes of a site that may outlive its region."""
PART = 0.25
"""Of the distance between regions: the frees of a region take at most so long."""


@dataclass(slots=True)
class Deaths:
    """What a pass finds of one call site, by the number of its stack."""

    stack: int
    allocations: int = 0
    bytes: int = 0
    least: int = 1 << 62
    """Size of the smallest object."""
    largest: int = 0
    regions: int = 0
    region_objects: int = 0
    region_bytes: int = 0
    never_freed: int = 0
    reused: int = 0
    """Allocations after a free of the same site."""
    ends: list[tuple[int, int]] = field(default_factory=list)
    """Its regions: the thread, and the number of the event that ends the region, in order."""


@dataclass(slots=True)
class _Open:
    """The run of frees of one site and thread that may be a region."""

    live_bytes: int = 0
    freed_objects: int = 0
    freed_bytes: int = 0
    last: int = 0
    free_slots: int = 0


class _Walk:
    def __init__(self) -> None:
        self.found: dict[int, Deaths] = {}
        self._open: dict[tuple[int, int], _Open] = {}
        self._live: dict[int, tuple[int, int, int, int]] = {}
        """By address: stack, thread, size and birth."""
        self.lives = array("q")
        """Of each object: these, and its death."""
        self._number = 0

    def step(  # noqa: PLR0913, PLR0917 - the columns of an event
        self, thread: int, routine: str, stack: int, address: int, old: int, size: int
    ) -> None:
        self._number += 1
        if routine in FREES:
            self._end(address, freed=True)
            return
        if routine in ("realloc", "reallocarray") and old:
            if not address and size:
                return  # it failed
            self._end(old, freed=False)
        if address:
            self._begin(thread, stack, address, size)

    def _begin(self, thread: int, stack: int, address: int, size: int) -> None:
        site = self.found.get(stack)
        if site is None:
            site = self.found[stack] = Deaths(stack)
        run = self._open.get((stack, thread))
        if run is None:
            run = self._open[stack, thread] = _Open()
        if run.freed_objects:
            self._close(site, thread, run)
        if run.free_slots:
            run.free_slots -= 1
            site.reused += 1
        site.allocations += 1
        site.bytes += size
        site.least = min(site.least, size)
        site.largest = max(site.largest, size)
        run.live_bytes += size
        self._live[address] = stack, thread, size, self._number

    def _end(self, address: int, *, freed: bool) -> None:
        known = self._live.pop(address, None)
        if known is None:
            return
        stack, thread, size, _ = known
        self.lives.extend((*known, self._number))
        run = self._open[stack, thread]
        run.live_bytes -= size
        run.free_slots += 1
        if freed:
            run.freed_objects += 1
            run.freed_bytes += size
            run.last = self._number

    @staticmethod
    def _close(site: Deaths, thread: int, run: _Open) -> None:
        held = run.freed_bytes + run.live_bytes
        if run.freed_objects >= LEAST and run.live_bytes <= LEFT * held:
            site.regions += 1
            site.region_objects += run.freed_objects
            site.region_bytes += run.freed_bytes
            site.ends.append((thread, run.last))
        run.freed_objects = run.freed_bytes = 0

    def over(self) -> None:
        """The end of the trace ends each run."""
        for (stack, thread), run in self._open.items():
            self._close(self.found[stack], thread, run)
        for stack, thread, size, born in self._live.values():
            self.found[stack].never_freed += 1
            self.lives.extend((stack, thread, size, born, self._number + 1))
        for each in self.found.values():
            each.ends.sort()


@dataclass(frozen=True, slots=True)
class Lives:
    """All objects of a trace; births and deaths are numbers of events."""

    sites: dict[int, Deaths]
    """By the number of the stack, as in `Site.stack` of a profile."""
    columns: np.ndarray
    """A row for each object, by stack: stack, thread, size, birth, death."""

    def inside(self, stack: int, ends: Sequence[tuple[int, int]]) -> int:
        """The bytes of a site whose objects die before the next end of a region, or with it."""
        begin, end = np.searchsorted(self.columns[:, 0], (stack, stack + 1))
        rows = self.columns[begin:end]
        total = 0
        for thread in np.unique(rows[:, 1]).tolist():
            own = rows[rows[:, 1] == thread]
            at = np.array([last for by, last in ends if by == thread], dtype=np.int64)
            if len(at):
                place = np.searchsorted(at, own[:, 3])
                known = place < len(at)
                limit = at[np.minimum(place, len(at) - 1)] + slack_of(ends)
                total += int(own[known & (own[:, 4] <= limit)][:, 2].sum())
        return total


def slack_of(ends: Sequence[tuple[int, int]]) -> int:
    """Events between ends that are of one region: a part of the usual distance of regions."""
    at = sorted(end for _, end in ends)
    gaps = np.diff(at)
    usual = float(np.median(gaps)) if len(gaps) else float(at[0] if at else 0)
    return int(PART * usual)


def lives_of(trace: Path, process: int) -> Lives:
    """The objects of a process, with the regions of each site. Raises TraceError."""
    return lives_of_events(_events(trace, process))


def lives_of_events(events: Iterable[tuple[int, str, int, int, int, int]]) -> Lives:
    """The same of calls: thread, routine, stack, address, old address, size."""
    walk = _Walk()
    for event in events:
        walk.step(*event)
    walk.over()
    columns = np.frombuffer(walk.lives, dtype=np.int64).reshape(-1, 5)
    return Lives(walk.found, columns[np.argsort(columns[:, 0], kind="stable")])


def _events(trace: Path, process: int) -> Iterator[tuple[int, str, int, int, int, int]]:
    for frame in frames(trace, process):
        names = ("thread", "routine", "stack", "address", "old", "size")
        yield from zip(*frame.select(names).to_dict(as_series=False).values(), strict=True)
