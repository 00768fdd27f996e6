# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What the default model takes from a profile, as arrays.

Phases are P even stretches of operations; columns are J pairs of a size band and a lifetime class.
Lifetimes are in operations: class k is `low[k]` to `high[k]`, the last one is for ever. A profile
tells them by doublings; wide ones are split into parts, which together have the count of the
doubling.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapwright.artefacts.profile.document import Profile

Array = NDArray[np.float64]
LONG_S = 1.0
PARTS = 3


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything on the model's own clock, before any stretching."""

    ends: Array
    """P: the operation at which each phase ends."""
    times: Array
    """P: the second at which it does."""
    allocations: Array
    """P: made in the phase."""
    bytes: Array
    """P: requested in the phase."""
    live_objects: Array
    """P: at its end."""
    live_bytes: Array
    """P: at its end."""
    long_lived: Array
    """P: of its allocations, those retained for more than a second or for ever."""
    handing: Array
    """P: how much likelier than on average blocks that end here are ended by another thread."""
    low: Array
    """K: the shortest lifetime of the class."""
    high: Array
    """K: the longest; infinite in the last class."""
    band: NDArray[np.intp]
    """J: which band of `lifetimes_by_size`."""
    lifetime: NDArray[np.intp]
    """J: which class."""
    group: NDArray[np.intp]
    """G: the first column of each run of columns whose counts are known together; it rises."""
    count: Array
    """G: allocations of the run."""
    mean_size: Array
    """J: bytes, the mean of the band."""

    @property
    def begins(self) -> Array:
        """P: the operation at which each phase begins."""
        return np.concatenate(([0.0], self.ends[:-1]))

    @property
    def operations(self) -> float:
        return float(self.ends[-1])


def observe(profile: Profile) -> Observed:
    """Read the arrays off; the profile has at least one allocation."""
    phases = profile.phases
    low, high, places = _classes(profile)
    groups = _groups(profile, places)
    columns = [(group.band, part) for group in groups for part in group.classes]
    sizes = np.array([band.bytes / max(band.count, 1) for band in profile.lifetimes_by_size])
    bands = np.array([band for band, _ in columns], np.intp)
    return Observed(
        ends=np.array([each.operation for each in phases], float),
        times=np.array([each.time_s for each in phases], float),
        allocations=np.array([each.allocations for each in phases], float),
        bytes=np.array([each.bytes for each in phases], float),
        live_objects=np.array([each.live_objects for each in phases], float),
        live_bytes=np.array([each.live_bytes for each in phases], float),
        long_lived=np.array([each.long_lived for each in phases], float),
        handing=_handing(profile),
        low=low,
        high=high,
        band=bands,
        lifetime=np.array([part for _, part in columns], np.intp),
        group=np.cumsum([0, *(len(group.classes) for group in groups[:-1])]),
        count=np.array([group.count for group in groups], float),
        mean_size=sizes[bands],
    )


@dataclass(frozen=True, slots=True)
class _Group:
    band: int
    classes: range
    count: int


def _classes(profile: Profile) -> tuple[Array, Array, dict[float, range]]:
    """Limits of the classes, both included, and which of them a doubling has, by its upper
    limit.
    """
    limits = {
        (each.low, each.high)
        for band in profile.lifetimes_by_size
        for each in band.operations
        if each.count
    }
    low: list[float] = []
    high: list[float] = []
    places = {}
    for below, above in sorted(limits):
        edges = _split(max(1, int(below) + 1), max(1, int(above)))
        places[above] = range(len(low), len(low) + len(edges))
        low += [first for first, _ in edges]
        high += [last for _, last in edges]
    return np.array([*low, np.inf]), np.array([*high, np.inf]), places


def _split(low: int, high: int) -> list[tuple[int, int]]:
    parts = max(1, min(PARTS, (high - low + 1) // 2))
    edges = [low + (high - low + 1) * part // parts for part in range(parts + 1)]
    return [(edges[part], edges[part + 1] - 1) for part in range(parts)]


def _groups(profile: Profile, places: dict[float, range]) -> list[_Group]:
    last = max((place.stop for place in places.values()), default=0)
    groups = []
    for at, band in enumerate(profile.lifetimes_by_size):
        groups += [
            _Group(at, places[each.high], each.count) for each in band.operations if each.count
        ]
        if band.never_freed:
            groups.append(_Group(at, range(last, last + 1), band.never_freed))
    return groups


def _handing(profile: Profile) -> Array:
    ended = np.array([each.frees for each in profile.phases], float)
    handed = np.array([each.handed_over for each in profile.phases], float)
    average = handed.sum() / max(ended.sum(), 1)
    if average == 0:
        return np.ones(len(ended))
    relative: Array = handed / np.maximum(ended, 1) / average
    return relative
