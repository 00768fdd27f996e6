# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a tailored allocator depends on, measured in one pass over a trace."""

from array import array
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from heapwright.artefacts.trace.file import trace_info
from heapwright.artefacts.trace.frame import frames
from heapwright.artefacts.trace.processes import processes_of
from heapwright.base.errors import HeapwrightError
from heapwright.tailor.deaths import FREES
from heapwright.tailor.sites import SiteKey, SiteLives, worst_of
from heapwright.tailor.size_classes import block_of

DEPTHS = (8, 16, 32, 64, 128, 256, 512, 1024)
"""Of a list of freed objects, that are tried on the trace."""
FALLEN, RISEN = 0.5, 0.9
"""Of the peak: the live bytes between two phases, and in the next one."""
WALKED = 2_000_000
"""Events whose alternation is followed. Later ones repeat it."""


@dataclass(slots=True)
class Figures:
    """One process of a trace, or several inputs together."""

    allocations: int = 0
    frees: int = 0
    reallocs: int = 0
    moved: int = 0
    """Reallocs that got another address."""
    remote: int = 0
    """Frees by another thread than the one that allocated."""
    threads: int = 0
    """Threads that allocate, in the input with the most."""
    counts: Counter[int] = field(default_factory=Counter)
    """Allocations of each size."""
    at_peak: Counter[int] = field(default_factory=Counter)
    """Live objects of each size when most bytes were live."""
    peak_bytes: int = 0
    rises: int = 0
    """Times that the live bytes rise to nearly the peak again, after they fell to half of it. The
    most of all inputs."""
    never_freed: int = 0
    hits: dict[int, int] = field(default_factory=dict)
    """Allocations that a list of each depth of `DEPTHS` serves from freed objects."""
    walked: int = 0
    """The allocations that `hits` counts."""
    inputs: int = 1
    sites: dict[SiteKey, SiteLives] = field(default_factory=dict)
    """The call sites; empty without call stacks."""

    def hit_share(self, depth: int) -> float:
        return self.hits.get(depth, 0) / self.walked if self.walked else 0.0

    @property
    def freed_share(self) -> float:
        return 1 - self.never_freed / self.allocations if self.allocations else 0.0

    def bytes_above(self, size: int) -> int:
        """Live bytes at the peak in objects larger than `size`."""
        return sum(each * count for each, count in self.at_peak.items() if each > size)

    def bytes_up_to(self, size: int) -> int:
        """Live bytes at the peak in objects of at most `size`."""
        return sum(each * count for each, count in self.at_peak.items() if each <= size)

    def share_up_to(self, size: int) -> float:
        """Of the allocations."""
        small = sum(count for each, count in self.counts.items() if each <= size)
        return small / self.allocations if self.allocations else 0.0


def figures_of(trace: Path) -> Figures:
    """The figures of the process with the most calls. Raises HeapwrightError for an empty trace."""
    interval = trace_info(trace).sample_interval
    if interval > 1:
        raise HeapwrightError(
            f"{trace} has one block in {interval:,}: its sizes and lifetimes are not complete",
            "record it without --sample",
        )
    processes = processes_of(trace)
    if not processes:
        raise _empty(trace)
    busiest = processes[0].process
    walk = _Walk()
    for frame in frames(trace, busiest):
        columns = frame.select("thread", "routine", "address", "old", "size").to_dict(
            as_series=False
        )
        for event in zip(*columns.values(), strict=True):
            walk.step(*event)
    found = walk.figures()
    if not found.allocations:
        raise _empty(trace)
    return found


def _empty(trace: Path) -> HeapwrightError:
    return HeapwrightError(
        f"{trace} has no call of malloc: there is nothing to fit an allocator to",
        "heapwright trace info shows what was recorded",
    )


def together(all_: list[Figures]) -> Figures:
    """Several inputs as one: each counts with its own objects."""
    if len(all_) == 1:
        return all_[0]
    whole = Figures(inputs=len(all_))
    for each in all_:
        for name in ("allocations", "frees", "reallocs", "moved", "remote", "never_freed"):
            setattr(whole, name, getattr(whole, name) + getattr(each, name))
        whole.walked += each.walked
        whole.counts += each.counts
        whole.at_peak += each.at_peak
        whole.threads = max(whole.threads, each.threads)
        whole.peak_bytes = max(whole.peak_bytes, each.peak_bytes)
        whole.rises = max(whole.rises, each.rises)
        for depth, hits in each.hits.items():
            whole.hits[depth] = whole.hits.get(depth, 0) + hits
    whole.sites = worst_of([each.sites for each in all_])
    return whole


class _Walk:
    """The pass: which objects are live, and how deep the lists of freed ones are."""

    def __init__(self) -> None:
        self._live: dict[int, tuple[int, int]] = {}
        """The size and the thread of each object."""
        self._changes = array("q")
        """1 + the size of each new object, and -1 - that of each freed one."""
        self._depths: dict[tuple[int, int], list[int]] = {}
        """By thread and block: the length that a list of each depth has now."""
        self._threads: set[int] = set()
        """Those that allocate."""
        self._hits = [0] * len(DEPTHS)
        self._walked = 0
        self._found = Figures()

    def step(self, thread: int, routine: str, address: int, old: int, size: int) -> None:
        if routine in FREES:
            self._found.frees += address != 0
            self._end(thread, address)
            return
        if routine in ("realloc", "reallocarray") and old:
            self._found.reallocs += 1
            if not address and size:
                return  # it failed, and the object is unchanged
            self._found.moved += bool(address and address != old)
            if address == old and old in self._live:
                was, owner = self._live[old]
                self._changes.extend((-1 - was, 1 + size))
                self._live[old] = size, owner
                return
            self._end(thread, old)
        if address:
            self._begin(thread, address, size)

    def _begin(self, thread: int, address: int, size: int) -> None:
        found = self._found
        self._threads.add(thread)
        found.allocations += 1
        found.counts[size] += 1
        self._changes.append(1 + size)
        self._live[address] = size, thread
        if found.allocations + found.frees > WALKED:
            return
        self._walked += 1
        lengths = self._depths.get((thread, block_of(size)))
        if lengths is None:
            self._depths[thread, block_of(size)] = [0] * len(DEPTHS)
            return
        for at, length in enumerate(lengths):
            if length:
                lengths[at] = length - 1
                self._hits[at] += 1

    def _end(self, thread: int, address: int) -> None:
        known = self._live.pop(address, None)
        if known is None:
            return
        size, owner = known
        self._found.remote += thread != owner
        self._changes.append(-1 - size)
        lengths = self._depths.get((owner, block_of(size)))
        if lengths is not None:
            for at, length in enumerate(lengths):
                if length < DEPTHS[at]:
                    lengths[at] = length + 1

    def figures(self) -> Figures:
        found = self._found
        changes = np.frombuffer(self._changes, dtype=np.int64)
        bytes_ = np.cumsum(changes - np.sign(changes))
        if len(bytes_):
            peak = int(np.argmax(bytes_))
            found.peak_bytes = int(bytes_[peak])
            found.rises = _rises(bytes_)
            for sign in (1, -1):
                part = changes[: peak + 1]
                sizes, counts = np.unique(np.abs(part[part * sign > 0]) - 1, return_counts=True)
                for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
                    found.at_peak[size] += sign * count
            found.at_peak = +found.at_peak
        found.never_freed = len(self._live)
        found.threads = len(self._threads)
        found.hits = dict(zip(DEPTHS, self._hits, strict=True))
        found.walked = self._walked
        return found


def _rises(live_bytes: np.ndarray) -> int:
    """How often the live bytes go from `FALLEN` of their peak to `RISEN` of it, after the first."""
    peak = live_bytes.max()
    phase = np.where(live_bytes >= RISEN * peak, 1, np.where(live_bytes <= FALLEN * peak, -1, 0))
    known = phase[phase != 0]
    rising = int(np.count_nonzero((known[1:] == 1) & (known[:-1] == -1)))
    return max(0, rising - int(len(known) > 0 and known[0] == -1))
