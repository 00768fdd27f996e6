# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The lives of the objects of each call site: one pass over a trace with call stacks.

A call site is a return address of malloc and a size of blocks. Time is counted in requested bytes.
An object is *young* while the program requests at most `YOUNG` bytes after it.

Source: Barrett and Zorn, "Using lifetime predictors to improve memory allocation performance",
PLDI 1993. They predict by the call chain and the size. A library can read only the innermost call.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.trace.frame import frames
from heapwright.tailor.deaths import FREES
from heapwright.tailor.size_classes import block_of

SERVED = frozenset(("malloc", "calloc", "realloc", "new", "new[]"))
"""The routines that give their return address to the heap."""
YOUNG = 32 * 1024
MOST_OLD = 4096
"""Old objects of one call site whose lives are kept. A site with more is not predicted."""


class Place(NamedTuple):
    """A return address, as each run of the same build has it."""

    module: str
    """The name of the file."""
    build_id: str
    """In hexadecimal."""
    address: int
    """In the file."""


class SiteKey(NamedTuple):
    place: Place
    block: int
    """In bytes, of a heap with tags."""


@dataclass(frozen=True, slots=True)
class SiteLives:
    """The objects of a call site, of one input or of several together."""

    allocations: int
    by_one_thread: int
    """Those of the thread with the most."""
    bytes: int
    young_share: float
    """Of the bytes: dead while they are young. The least share of all inputs."""
    lasting_share: float
    """Of the bytes: never freed. The least share of all inputs."""
    old_at_once: int | None
    """The most live objects that are no longer young. The most of all inputs; None: too many."""


def places_of(profile: Profile) -> dict[int, Place]:
    """By number of the stack: where the innermost call returns to. Without what has no build-id.

    `profile` has every site of the trace.
    """
    found: dict[int, Place] = {}
    if profile.calls is None:
        return found
    for site in profile.sites:
        call = profile.calls.nodes[site.call]
        if site.call == 0 or call.code >= len(profile.calls.objects):
            continue
        code = profile.calls.objects[call.code]
        if code.build_id and not code.function:
            name = code.path.rpartition("/")[2]
            found[site.stack] = Place(name, code.build_id, call.address + 1)  # a call ends there
    return found


def sites_of(trace: Path, process: int, places: Mapping[int, Place]) -> dict[SiteKey, SiteLives]:
    """The call sites of a process, by the places of its stacks. Raises TraceError."""
    return sites_of_events(_events(trace, process), places)


def sites_of_events(
    events: Iterable[tuple[int, str, int, int, int, int]], places: Mapping[int, Place]
) -> dict[SiteKey, SiteLives]:
    """The same of calls: thread, routine, stack, address, old address, size."""
    walk = _Walk(places)
    for event in events:
        walk.step(*event)
    return walk.over()


def worst_of(all_: Sequence[Mapping[SiteKey, SiteLives]]) -> dict[SiteKey, SiteLives]:
    """Several inputs: a call site is as good as in its worst input."""
    found: dict[SiteKey, SiteLives] = {}
    for each in all_:
        for key, lives in each.items():
            found[key] = _worse(found[key], lives) if key in found else lives
    return found


def _worse(one: SiteLives, other: SiteLives) -> SiteLives:
    old = (one.old_at_once, other.old_at_once)
    return SiteLives(
        allocations=one.allocations + other.allocations,
        by_one_thread=one.by_one_thread + other.by_one_thread,
        bytes=one.bytes + other.bytes,
        young_share=min(one.young_share, other.young_share),
        lasting_share=min(one.lasting_share, other.lasting_share),
        old_at_once=None if None in old else max(each for each in old if each is not None),
    )


@dataclass(slots=True)
class _Site:
    """What the pass counts of a call site."""

    allocations: dict[int, int] = field(default_factory=dict)
    """By thread."""
    bytes: int = 0
    young_bytes: int = 0
    lasting_bytes: int = 0
    old: array[int] = field(default_factory=lambda: array("q"))
    """1 + the time at which an object became old, and -1 - that of its death."""

    def lives(self) -> SiteLives:
        return SiteLives(
            allocations=sum(self.allocations.values()),
            by_one_thread=max(self.allocations.values()),
            bytes=self.bytes,
            young_share=self.young_bytes / self.bytes,
            lasting_share=self.lasting_bytes / self.bytes,
            old_at_once=_most_at_once(self.old) if len(self.old) < 2 * MOST_OLD else None,
        )


def _most_at_once(changes: array[int]) -> int:
    signed = np.frombuffer(changes, dtype=np.int64)
    in_order = np.argsort(np.abs(signed), kind="stable")
    return int(np.sign(signed[in_order]).cumsum().max(initial=0))


class _Walk:
    def __init__(self, places: Mapping[int, Place]) -> None:
        self._places = places
        self._sites: dict[tuple[int, int], _Site] = {}
        """By stack and block."""
        self._live: dict[int, tuple[_Site, int, int]] = {}
        """By address: the site, the size and the time after the request."""
        self._time = 0
        """In requested bytes."""

    def step(  # noqa: PLR0913, PLR0917 - the columns of an event
        self, thread: int, routine: str, stack: int, address: int, old: int, size: int
    ) -> None:
        if routine in FREES:
            self._end(address)
            return
        if old:
            if not address and size:
                return  # it failed
            self._end(old)
        if address:
            self._time += size
            if routine in SERVED and not old and stack in self._places:
                self._begin(thread, stack, address, size)

    def _begin(self, thread: int, stack: int, address: int, size: int) -> None:
        key = stack, block_of(size)
        site = self._sites.get(key)
        if site is None:
            site = self._sites[key] = _Site()
        site.allocations[thread] = site.allocations.get(thread, 0) + 1
        site.bytes += max(size, 1)
        self._live[address] = site, size, self._time

    def _end(self, address: int) -> None:
        known = self._live.pop(address, None)
        if known is None:
            return
        site, size, born = known
        if self._time - born <= YOUNG:
            site.young_bytes += max(size, 1)
        else:
            self._note_old(site, born, self._time)

    @staticmethod
    def _note_old(site: _Site, born: int, died: int) -> None:
        if len(site.old) < 2 * MOST_OLD:
            site.old.extend((1 + born + YOUNG, -1 - died))

    def over(self) -> dict[SiteKey, SiteLives]:
        """The end of the trace: what is live lasts."""
        for site, size, born in self._live.values():
            site.lasting_bytes += max(size, 1)
            self._note_old(site, born, self._time + 2 * YOUNG)
        whole: dict[SiteKey, _Site] = {}
        for (stack, block), site in self._sites.items():
            key = SiteKey(self._places[stack], block)
            if key in whole:
                _add(whole[key], site)
            else:
                whole[key] = site
        return {key: site.lives() for key, site in whole.items()}


def _add(whole: _Site, site: _Site) -> None:
    """Add the objects of another stack with the same innermost call."""
    for thread, count in site.allocations.items():
        whole.allocations[thread] = whole.allocations.get(thread, 0) + count
    whole.bytes += site.bytes
    whole.young_bytes += site.young_bytes
    whole.lasting_bytes += site.lasting_bytes
    whole.old.extend(site.old)


def _events(trace: Path, process: int) -> Iterator[tuple[int, str, int, int, int, int]]:
    for frame in frames(trace, process):
        names = ("thread", "routine", "stack", "address", "old", "size")
        yield from zip(*frame.select(names).to_dict(as_series=False).values(), strict=True)
